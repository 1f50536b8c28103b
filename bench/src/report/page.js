// Shows the values under the pointer below each chart.
for (const svg of document.querySelectorAll("svg")) {
  const lines = [...svg.querySelectorAll("polyline")].map((line) => ({
    name: line.dataset.name,
    values: line.dataset.values.split(";").filter(Boolean).map((value) => {
      const at = value.indexOf(":");
      return [Number(value.slice(0, at)), value.slice(at + 1)];
    }),
  }));
  const { left, right, xmin, xmax } = svg.dataset;
  const cursor = svg.querySelector(".cursor");
  const values = svg.parentElement.querySelector(".values");
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    const share = Math.min(1, Math.max(0, (x - left) / (right - left)));
    const second = Number(xmin) + share * (xmax - xmin);
    const nearest = (line) => line.values.reduce(
      (best, value) => (Math.abs(value[0] - second) < Math.abs(best[0] - second) ? value : best), [Infinity, "–"]);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    values.textContent = `${second.toFixed(1)} s: ` + lines.map((line) => `${line.name} ${nearest(line)[1]}`).join(", ");
  });
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("x1", -9);
    cursor.setAttribute("x2", -9);
    values.textContent = "";
  });
}
