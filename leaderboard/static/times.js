// Adds the reader's own local time to every <time datetime>; the UTC text stays as it is, beside it or as the hint.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function localise(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const instant = new Date(element.dateTime);
    if (element.dataset.local || Number.isNaN(instant.getTime())) continue;
    element.dataset.local = "yes";
    const utc = element.textContent;
    element.textContent = element.classList.contains("both") ? `${format.format(instant)} (${utc})` : format.format(instant);
    element.title = utc;
  }
}

localise(document);
