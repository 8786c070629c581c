// Draws figures from the numbers that stand in the page as JSON: bars, lines, heat maps, points, flows. The table beside each has the
// same numbers, so a page is whole without this script. Plotly's own script is large: it is fetched from this host once a figure
// comes into sight.
const places = document.querySelectorAll("[data-figure]");
const dark = matchMedia("(prefers-color-scheme: dark)");
// Okabe and Ito's colours, told apart by colour-blind readers; patterns, dashes and symbols tell things apart without any colour.
const colours = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1c2024"],
  dark: ["#56b4e9", "#e69f00", "#2fbf95", "#e2a3c7", "#f0e442", "#d98a5b", "#e4e6e3"],
};
const patterns = ["", "/", ".", "x", "\\", "-", "|"];
const dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid"];
const symbols = ["circle", "diamond", "square", "x", "triangle-up", "cross", "star"];
const units = {
  queries: { tickformat: ",d", hover: "%{y:,} queries" },
  percent: { tickformat: ".4~g", ticksuffix: " %", hover: "%{y:.2f} %" },
  number: { tickformat: ".3~g", hover: "%{y:.3f}" },
};
let plotly = null;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function palette(index) {
  const chosen = dark.matches ? colours.dark : colours.light;
  return chosen[index % chosen.length];
}

function bars(figure) {
  return figure.series.map((series, index) => ({
    type: "bar",
    name: series.name,
    x: figure.labels,
    y: series.values,
    marker: { color: palette(index), pattern: { shape: patterns[index % patterns.length], size: 5, fgcolor: colour("--paper"), fillmode: "overlay" } },
    hovertemplate: `%{x}: ${units[figure.unit || "queries"].hover}<extra>${escaped(series.name)}</extra>`,
  }));
}

function lines(figure) {
  return figure.series.map((series, index) => ({
    type: "scatter",
    mode: "lines+markers",
    name: series.name,
    x: figure.labels,
    y: series.values,
    line: { color: palette(index), width: 2, dash: dashes[index % dashes.length] },
    marker: { symbol: symbols[index % symbols.length], size: 8 },
    hovertemplate: `%{x}: ${units[figure.unit || "queries"].hover}<extra>${escaped(series.name)}</extra>`,
  }));
}

function points(figure) {
  return figure.series.map((series, index) => ({
    type: "scatter",
    mode: "markers",
    name: series.name,
    x: series.x,
    y: series.y,
    text: series.texts.map(escaped),
    marker: { color: palette(index), symbol: symbols[index % symbols.length], size: 7, opacity: 0.75 },
    hovertemplate: `%{text}<br>${escaped(figure.x)} %{x:,}<br>${escaped(figure.y)} %{y:,}<extra>${escaped(series.name)}</extra>`,
  }));
}

// Few cells hold most queries, so colour follows the logarithm; the numbers stand in the cells and when pointed at.
function heat(figure, narrow) {
  return [
    {
      type: "heatmap",
      x: figure.labels,
      y: figure.rows,
      z: figure.values.map((row) => row.map((value) => Math.log1p(value))),
      text: figure.values.map((row) => row.map((value) => (value ? value.toLocaleString("en") : ""))),
      texttemplate: narrow ? "" : "%{text}",
      customdata: figure.values,
      hovertemplate: `${escaped(figure.y)} %{y}<br>${escaped(figure.x)} %{x}: %{customdata:,} queries<extra></extra>`,
      colorscale: [[0, colour("--paper")], [1, palette(0)]],
      showscale: false,
      xgap: 1,
      ygap: 1,
    },
  ];
}

function flow(figure, narrow) {
  const names = [...new Set(figure.nodes.map((node) => node.name))];
  const shade = (node) => palette(names.indexOf(node.name));
  return [
    {
      type: "sankey",
      arrangement: "snap",
      textfont: { color: colour("--ink"), size: narrow ? 10 : 13, shadow: "none" },
      node: {
        label: figure.nodes.map((node) => `${node.name} (${node.size.toLocaleString("en")})`),
        color: figure.nodes.map(shade),
        line: { color: colour("--ink"), width: 0.5 },
        x: figure.nodes.map((node) => (node.side ? 0.999 : 0.001)),
        y: heights(figure.nodes),
        pad: 18,
        thickness: 14,
        hovertemplate: "%{label}<extra></extra>",
      },
      link: {
        source: figure.links.map((link) => link.source),
        target: figure.links.map((link) => link.target),
        value: figure.links.map((link) => link.value),
        color: figure.links.map((link) => `${shade(figure.nodes[link.source])}59`),
        hovertemplate: "%{source.label} → %{target.label}: %{value:,} queries<extra></extra>",
      },
    },
  ];
}

// Nodes keep the order they are given in, on either side.
function heights(nodes) {
  const total = Math.max(...[0, 1].map((side) => nodes.filter((node) => node.side === side).reduce((sum, node) => sum + node.size, 0)));
  const above = [0, 0];
  return nodes.map((node) => {
    const middle = (above[node.side] + node.size / 2) / total;
    above[node.side] += node.size;
    return Math.min(0.999, Math.max(0.001, middle));
  });
}

const kinds = { bars, lines, points, heat, flow };

// Plotly reads a little markup in texts; names of queries and models are none.
function escaped(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

// Queries are whole, so ticks are, where there are few.
function step(figure) {
  if (!figure.series || (figure.unit || "queries") !== "queries" || !figure.series[0]?.values) return undefined;
  const tops = figure.series.flatMap((series) => series.values);
  const most = figure.stacked
    ? Math.max(...figure.labels.map((_, place) => figure.series.reduce((sum, series) => sum + series.values[place], 0)))
    : Math.max(...tops);
  return most <= 5 ? 1 : undefined;
}

function tilt(figure, narrow) {
  if (Math.max(...figure.labels.map((label) => label.length)) <= (narrow ? 4 : 10) && figure.labels.length <= 15) return 0;
  return narrow ? -60 : -30;
}

function threshold(figure) {
  if (!figure.limit) return [];
  const line = { type: "line", line: { color: colour("--quiet"), width: 1, dash: "dash" } };
  const at = figure.limit;
  return [
    { ...line, xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1 },
    { ...line, xref: "paper", yref: "y", x0: 0, x1: 1, y0: at, y1: at },
  ];
}

function axes(figure, narrow) {
  const axis = { gridcolor: colour("--rule"), linecolor: colour("--rule"), zeroline: false, fixedrange: true, automargin: true };
  const unit = units[figure.unit || "queries"];
  const title = (text) => ({ text: narrow ? "" : text });
  if (figure.kind === "flow") return {};
  if (figure.kind === "points") {
    const ranks = { ...axis, type: "log", tickformat: ",d", dtick: 1, range: [-0.1, Math.log10(figure.deepest) + 0.1] };
    return { xaxis: { ...ranks, title: { text: figure.x } }, yaxis: { ...ranks, title: { text: figure.y } } };
  }
  if (figure.kind === "heat") {
    const bins = { ...axis, type: "category", showgrid: false };
    return { xaxis: { ...bins, title: { text: figure.x } }, yaxis: { ...bins, title: title(figure.y) } };
  }
  const horizontal = figure.kind === "lines" ? { type: figure.log ? "log" : "linear", ...(figure.log ? { tickvals: figure.labels } : { tickformat: ",d", dtick: figure.labels.length <= 15 ? 1 : undefined }) } : { type: "category", tickangle: tilt(figure, narrow) };
  const vertical = { rangemode: "tozero", tickformat: unit.tickformat, ticksuffix: unit.ticksuffix, dtick: step(figure), zeroline: true, zerolinecolor: colour("--quiet") };
  return { xaxis: { ...axis, ...horizontal, title: { text: figure.x } }, yaxis: { ...axis, ...vertical, title: title(figure.y) } };
}

function layout(figure, place) {
  const narrow = place.clientWidth < 520;
  const legend = legendHeight(figure, place, narrow);
  return {
    barmode: figure.stacked ? "stack" : "group",
    height: (narrow ? 360 : 400) + legend,
    dragmode: false,
    hovermode: "closest",
    paper_bgcolor: colour("--paper"),
    plot_bgcolor: colour("--paper"),
    font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 13, color: colour("--ink") },
    margin: { l: narrow ? 10 : 50, r: 10, t: 16 + legend, b: 40 },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", traceorder: "normal" },
    showlegend: legend > 0,
    shapes: threshold(figure),
    transition: { duration: 0 },
    ...axes(figure, narrow),
  };
}

// Plotly sets entries in columns as wide as the widest one; one series alone has no need of a legend.
function legendHeight(figure, place, narrow) {
  if (!figure.series || figure.series.length < 2) return 0;
  const widest = Math.max(...figure.series.map((series) => series.name.length)) * (narrow ? 6.2 : 7.2) + 48;
  const columns = Math.max(1, Math.floor((place.clientWidth - 60) / widest));
  return 21 * Math.ceil(figure.series.length / columns);
}

// The title is the page's text, not the drawing's: it wraps, and is read out.
function entitle(place, figure) {
  if (figure.untitled || place.dataset.titled) return;
  const title = document.createElement("p");
  title.className = "chart-title";
  title.textContent = figure.title;
  place.before(title);
  place.dataset.titled = "yes";
}

function load(address) {
  plotly ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", done);
    script.addEventListener("error", failed);
    document.head.append(script);
  });
  return plotly;
}

async function draw(place) {
  const figure = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  place.hidden = false;
  try {
    await load(place.dataset.plotly);
    const narrow = place.clientWidth < 520;
    const traces = kinds[figure.kind || "bars"](figure, narrow);
    await window.Plotly.react(place, traces, layout(figure, place), { displayModeBar: false, responsive: true });
    entitle(place, figure);
    place.dataset.drawn = "yes";
  } catch {
    place.hidden = true; // the table has the numbers
  }
}

const watcher = new IntersectionObserver(
  (seen) => {
    for (const part of seen.filter((each) => each.isIntersecting)) {
      watcher.unobserve(part.target);
      draw(part.target);
      dark.addEventListener("change", () => draw(part.target));
    }
  },
  { rootMargin: "300px" },
);

for (const place of places) {
  place.hidden = false;
  watcher.observe(place);
}
