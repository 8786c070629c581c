"""What a reader of a board must know to read it right, in sentences: the reasons are in ``docs/measures.md``."""

from __future__ import annotations

_CIRCUS = (
    "Full holds all queries. SF, shortcut-free, leaves out every query that some model of the audit's pool "
    "solves at 10 from the text or the image alone. V holds the queries of SF that people validated.",
    "Entries of the audit's pool are marked. On SF their own text-only and image-only Recall@10 is zero by "
    "construction.",
    "The shortcut leak stands beside the ranking measure: the share of queries an entry still solves at 10 "
    "from one modality. It never ranks a board, and neither does the Composition Gap: weakening the "
    "single-modality runs would raise the gap.",
    "The Composition Gap needs the rank of every positive in the whole gallery under all three conditions. "
    "From lists of 50 images it is not available.",
)
_SAMPLED = (
    "V was drawn from an audited sample of SF, half solved and half unsolved, so the share of V in SF means "
    "nothing and is not shown. Intervals on V resample within the two halves.",
)
_PINPOINT = (
    "In 3,410 of the 7,635 rows the release replaced the reference image by a licensed stand-in and left the "
    "instruction as it was. One image stands for 355 references, with requests as different as a recipe and a"
    " hair style. On these rows the query no longer composes what it says.",
    "All is shown to compare with published numbers. Read linguistic sensitivity, the multi-image drop and "
    "groups on Original, which holds the rows whose own reference is still there.",
    "Low Negative Recall is easy for a weak ranking. Judged@10, the share of the first ten places that are "
    "judged at all, and mAP@10 over judged images only stand beside mAP@10; two entries with different "
    "Judged@10 are not comparable without them.",
)
_CIRCO = (
    "mAP counts all ground truths and divides by min(number of ground truths, k). Recall counts the single "
    "annotated target only, as the official evaluator does.",
    "Methods differ in whether the query text holds the shared concept. Authors declare it; filter by query text.",
)

NOTES: dict[str, tuple[str, ...]] = {
    "circus-cirr": (
        *_CIRCUS,
        "The gallery is all 21,551 CIRR images, ten times that of CIRR val, and six pairs of queries are "
        "merged. A ranking over the 2,297 val images is refused here.",
    ),
    "circus-fashioniq": (
        *_CIRCUS,
        *_SAMPLED,
        "All three categories are searched in one pool, the two captions joined.",
    ),
    "circus-lasco": (*_CIRCUS, *_SAMPLED),
    "circus-circo": (
        *_CIRCUS,
        "Recall_any counts a query as solved when any of its ground truths is found; Recall_target counts the"
        " single target.",
        "V has 42 queries: intervals are wide, and Wilson's interval is used.",
    ),
    "pinpoint": (
        *_PINPOINT,
        "Judgments are counted as released, repeats and nulls included, so that numbers equal those of the "
        "released evaluator. A perfect list therefore reaches mAP@10 0.9703.",
    ),
    "pinpoint-clean": (
        *_PINPOINT,
        "Repeated judgments count once, and the 310 rows that call an image right and wrong at once are left out.",
    ),
    "pinpoint-paper": (
        "The paper was scored on an earlier query set that is not public. Nothing can be submitted here, and "
        "nothing here may be compared with the public release.",
    ),
    "cirr-val": (
        "Only the annotated target counts; soft labels do not.",
        "Recall_subset ranks the five other images of the query's own set. It comes from the subset file or, "
        "without one, from the main list where that holds all of the set.",
    ),
    "cirr-test1": ("Upload the two files of the official server, the main list and the subset list, together.",),
    "fashioniq-val": (
        "Each category has its own original gallery (3,817 dresses, 6,346 shirts, 5,373 tops). Numbers over "
        "the smaller galleries of references and targets only are easier and do not compare.",
        "The first measure is the unweighted mean over the categories, not over the queries.",
    ),
    "circo-val": _CIRCO,
    "circo-test": ("The official server takes the same file.", *_CIRCO),
    "demo-circus": _CIRCUS[:3],
    "demo-emoji": (
        "The pictures are Google's Noto Emoji. Queries follow from code points and names: “same, with dark skin tone”, "
        "“the same job as a woman”. Some texts name the target, so that an audit has shortcuts to find.",
        "Nobody published SF or V for it: an audit that is frozen gives it SF′.",
    ),
    "demo-pinpoint": (
        "Original leaves out the rows whose reference a stand-in replaced, as in PinPoint's release; see "
        "there for the story.",
    ),
}
