// Adds the reader's own local time to every <time datetime>, unless that is UTC: the UTC text stays, beside it or as the hint.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function localise(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const instant = new Date(element.dateTime);
    if (element.dataset.local || Number.isNaN(instant.getTime())) continue;
    element.dataset.local = "yes";
    if (instant.getTimezoneOffset() === 0) continue;
    const utc = element.textContent;
    element.textContent = element.classList.contains("both") ? `${format.format(instant)} (${utc})` : format.format(instant);
    element.title = utc;
  }
}

localise(document);
