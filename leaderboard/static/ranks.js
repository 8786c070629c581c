// Draws the histogram of ranks from the numbers that stand in the page as JSON. The table under it has the same numbers, so the
// page is whole without this script. Plotly's own script is large: it is fetched from this host once the figure comes into sight.
const place = document.querySelector("[data-ranks-figure]");
const dark = matchMedia("(prefers-color-scheme: dark)");
// Okabe and Ito's colours, told apart by colour-blind readers; patterns tell the bars apart without any colour.
const colours = { light: ["#0072b2", "#d55e00", "#009e73"], dark: ["#56b4e9", "#e69f00", "#2fbf95"] };
const patterns = ["", "/", "."];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function traces(figure) {
  const chosen = dark.matches ? colours.dark : colours.light;
  return figure.series.map((series, index) => ({
    type: "bar",
    name: series.name,
    x: figure.labels,
    y: series.values,
    marker: { color: chosen[index], pattern: { shape: patterns[index], size: 5, fgcolor: colour("--paper"), fillmode: "overlay" } },
    hovertemplate: `%{x}: %{y} queries<extra>${series.name}</extra>`,
  }));
}

function layout(figure) {
  const narrow = place.clientWidth < 520;
  const most = Math.max(...figure.series.flatMap((series) => series.values)); // queries are whole, so ticks are
  const axis = { gridcolor: colour("--rule"), linecolor: colour("--rule"), zeroline: false, fixedrange: true, automargin: true };
  return {
    barmode: "group",
    height: narrow ? 420 : 440,
    dragmode: false,
    paper_bgcolor: colour("--paper"),
    plot_bgcolor: colour("--paper"),
    font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 13, color: colour("--ink") },
    margin: { l: narrow ? 10 : 50, r: 10, t: narrow ? 110 : 80, b: 40 },
    title: { text: figure.title, x: 0, xref: "container", xanchor: "left", y: 0.98, yref: "container", yanchor: "top", font: { size: narrow ? 14 : 16 } },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    xaxis: { ...axis, type: "category", tickangle: narrow ? -60 : -30, title: { text: figure.x } },
    yaxis: { ...axis, rangemode: "tozero", tickformat: ",d", dtick: most <= 5 ? 1 : undefined, title: { text: narrow ? "" : figure.y } },
    transition: { duration: 0 },
  };
}

function load(address) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", done);
    script.addEventListener("error", failed);
    document.head.append(script);
  });
}

async function draw() {
  const figure = JSON.parse(document.getElementById("ranks-data").textContent);
  place.hidden = false;
  try {
    if (!window.Plotly) await load(place.dataset.plotly);
    await window.Plotly.react(place, traces(figure), layout(figure), { displayModeBar: false, responsive: true });
    place.dataset.drawn = "yes";
  } catch {
    place.hidden = true; // the table has the numbers
  }
}

if (place) {
  place.hidden = false;
  const watcher = new IntersectionObserver(
    (seen) => {
      if (!seen.some((part) => part.isIntersecting)) return;
      watcher.disconnect();
      draw();
      dark.addEventListener("change", draw);
    },
    { rootMargin: "300px" },
  );
  watcher.observe(place);
}
