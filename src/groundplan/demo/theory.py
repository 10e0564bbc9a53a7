"""The first version of the example theory: why wells and a pipeline bring safe water to the valley."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

Ops = list[dict[str, Any]]

GOAL = "Every household in the Lenta valley has safe drinking water within a ten-minute walk"

# Keys are counted per node type, so the order of these nodes determines their keys.
GOALS = (
    (GOAL, "All 2,140 households in 23 villages, in every season, by the end of 2028.", "ada"),
    (
        "Children in the valley no longer fall ill from water",
        "Fewer than one in fifty under five with diarrhoea in any month of the rains.",
        "cleo",
    ),
)
OUTCOMES = (
    ("Families drink from a safe source all year", "Also when the springs are dry and after heavy rain.", "ada"),
    ("The way to water takes ten minutes or less", "From the door to the tap and back, queue left out.", "ada"),
    ("A broken pump runs again within a week", "Counted from the day on which nobody could pump any more.", "ben"),
    ("Water stays clean between the well and the cup", "Covered cans, clean hands, a ladle.", "cleo"),
    ("Villages look after their wells themselves", "They decide, they pay, and they call the caretaker.", "ben"),
)
OUTPUTS = (
    ("Twelve sites on which village and district agree", "Each with a signature of its owner.", "ben"),
    ("Twelve wells with a hand pump, an apron and a drain", "Afridev pumps on boreholes of about 45 metres.", "ben"),
    ("A gravity-fed line from the upper spring to six hamlets", "Four kilometres of pipe and six taps.", "ben"),
    ("Results of water tests on a board at every well", "In pictures: drink, boil, do not drink.", "cleo"),
    ("Two trained caretakers in every village", "At least one of them a woman.", "ben"),
    ("A depot with spare parts in Lenta town", "Seals, rods and bearings for three years.", "ben"),
    ("A water fee that every council has agreed to", "Enough for one large repair a year.", "ada"),
    ("Lessons on clean water in all seven schools", "Two a term, with a can and a ladle to take home.", "cleo"),
    ("Word of a broken pump reaches its caretaker in a day", "By the counters of the project pump-monitor.", "ben"),
)
ACTIVITIES = (
    ("Count the households and map springs and old wells", "Done with the schools.", "ben"),
    ("Rank the candidate sites with the village councils", "By need, cost and the way to water.", "ada"),
    ("Sign agreements with the owners of the land", "In writing, with the council as witness.", "ada"),
    ("Get the drilling permits of the district", "One application for all sites.", "ada"),
    ("Drill and line the boreholes", "Four first, then eight.", "ben"),
    ("Install one type of hand pump everywhere", "So that one kit of parts is enough.", "ben"),
    ("Lay the pipe from the upper spring", "Before the rains.", "ben"),
    ("Test the water of every well twice a year", "Before and after the rains.", "cleo"),
    ("Recruit two caretakers in each village", "Named by the users of the well.", "ben"),
    ("Write a repair handbook with pictures", "For people who do not read.", "cleo"),
    ("Train the caretakers at a real pump", "Three days, and one more after half a year.", "ben"),
    ("Order spare parts together with the traders of the town", "They sell them on.", "ben"),
    ("Work out with each council what repairs will cost", "From the prices of last year.", "ada"),
    ("Show teachers how to teach clean water", "Two days in the holidays.", "cleo"),
    ("Put stroke counters on the pumps", "With the project pump-monitor.", "ben"),
)

# Source, target, mechanism, confidence.
EDGES = (
    ("AC1", "OP1", "Only who knows where people live can say where a well helps most", "high"),
    ("AC2", "OP1", "A ranking that everybody saw being made is not argued about later", "medium"),
    ("AC3", "OP1", "A signed site cannot be taken back when the drill stands there", "high"),
    ("AC4", "OP2", "Without a permit the district stops the drill", "high"),
    ("AC5", "OP2", "A lined borehole reaches water that no latrine reaches", "high"),
    ("AC6", "OP2", "A hand pump closes the well and needs no power", "high"),
    ("AC6", "OP6", "One type of pump means one kit of parts", "high"),
    ("AC7", "OP3", "The spring lies high enough for water to run by itself", "low"),
    ("AC8", "OP4", "There is nothing to write on a board before somebody has tested", "high"),
    ("AC9", "OP5", "Who was chosen by the users is called by them", "medium"),
    ("AC10", "OP5", "Pictures are at hand when the trainer is not", "medium"),
    ("AC11", "OP5", "Hands learn at a pump, not in a room", "high"),
    ("AC12", "OP6", "Traders keep in stock what they helped to choose", "medium"),
    ("AC13", "OP7", "A council agrees to a sum that it has worked out itself", "medium"),
    ("AC14", "OP8", "A teacher who has done it can show it", "high"),
    ("AC15", "OP9", "A pump that makes no strokes for a day sends a message", "medium"),
    ("OP1", "OP2", "Drilling begins only where nobody objects", "high"),
    ("OP1", "OC5", "What a village has placed itself is its own", "medium"),
    ("OP2", "OC1", "A closed well keeps dirt out all year", "high"),
    ("OP2", "OC2", "Twelve wells where most people walk far halve the way", "medium"),
    ("OP3", "OC2", "Six taps at the doors of those who live highest", "medium"),
    ("OP4", "OC1", "Who sees that a source is bad goes to the next one", "low"),
    ("OP4", "OC4", "A board makes people talk about what they cannot see", "low"),
    ("OP5", "OC3", "Somebody near can do it", "high"),
    ("OP6", "OC3", "The part is there on the same day", "high"),
    ("OP7", "OC3", "The part can be paid for", "medium"),
    ("OP8", "OC4", "Children bring the ladle home, and mothers keep it", "medium"),
    ("OP9", "OC3", "Days are lost before anybody tells the caretaker", "medium"),
    ("OC2", "OC1", "Nobody goes back to the ditch when the well is nearer", "medium"),
    ("OC3", "OC1", "A well that stands still sends people back to the ditch", "high"),
    ("OC5", "OC3", "People mend what is theirs", "medium"),
    ("OC1", "G1", "Safe, and all year: this is half of the goal", "high"),
    ("OC2", "G1", "Near: this is the other half", "high"),
    ("OC1", "G2", "Most germs come from the source", "high"),
    ("OC4", "G2", "The rest gets in on the way", "medium"),
)

BY_SURVEY = {"method": "Household survey", "frequency": "twice a year", "owner": "cleo"}
BY_LOGBOOK = {"method": "Logbooks of the caretakers", "frequency": "monthly", "owner": "ben"}

INDICATORS: Ops = [
    {
        "node": "G1",
        "name": "Households with safe water within ten minutes",
        "unit": "%",
        "direction": "increase",
        "baseline": 31,
        "baseline_verified": True,
        "target": 100,
        **BY_SURVEY,
    },
    {
        "node": "G2",
        "name": "Children under five with diarrhoea in the last two weeks",
        "unit": "%",
        "direction": "decrease",
        "baseline": 18,
        "baseline_verified": False,
        "target": 2,
        **{**BY_SURVEY, "method": "Register of the health post"},
    },
    {
        "node": "OC1",
        "name": "Households that used only safe sources in the last month",
        "unit": "%",
        "direction": "increase",
        "baseline": 40,
        "baseline_verified": True,
        "target": 95,
        **BY_SURVEY,
    },
    {
        "node": "OC2",
        "name": "Way to water and back",
        "unit": "minutes",
        "direction": "decrease",
        "baseline": 34,
        "baseline_verified": True,
        "target": 10,
        **BY_SURVEY,
    },
    {
        "node": "OC3",
        "name": "Days until a broken pump runs again",
        "unit": "days",
        "direction": "decrease",
        "baseline": 46,
        "baseline_verified": True,
        "target": 7,
        **BY_LOGBOOK,
    },
    {
        "node": "OC5",
        "name": "Councils that paid for their last repair themselves",
        "unit": "of 23",
        "direction": "increase",
        "baseline": 2,
        "baseline_verified": True,
        "target": 20,
        **BY_LOGBOOK,
    },
    {"node": "OP1", "name": "Sites with all signatures", "unit": "of 12", "direction": "increase", "target": 12},
    {"node": "OP2", "name": "Wells in use", "unit": "of 12", "direction": "increase", "baseline": 0, "target": 12},
    {"node": "OP4", "name": "Wells with a board that is up to date", "unit": "of 12", "target": 12},
    {"node": "OP5", "name": "Villages with two trained caretakers", "unit": "of 23", "baseline": 0, "target": 23},
    {"node": "OP7", "name": "Households that paid the fee this quarter", "unit": "%", "baseline": 0, "target": 80},
    {"node": "OP8", "name": "Schools that gave both lessons", "unit": "of 7", "baseline": 0, "target": 7},
]


class Days:
    """Dates of the example, relative to the day on which its project was filled."""

    def __init__(self, filled: date) -> None:
        self._filled = filled

    def offset(self, days: int) -> str:
        """Return the date that many days later, or earlier if negative."""
        return (self._filled + timedelta(days=days)).isoformat()


def first_version(days: Days) -> Ops:
    """Return the edits of the first version."""
    typed = (("GOAL", GOALS), ("OUTCOME", OUTCOMES), ("OUTPUT", OUTPUTS), ("ACTIVITY", ACTIVITIES))
    nodes = [
        {
            "op": "add_node",
            "ref": f"{prefix}{number}",
            "node_type": node_type,
            "title": title,
            "description": description,
            "owner": owner,
        }
        for (node_type, listed), prefix in zip(typed, ("G", "OC", "OP", "AC"), strict=True)
        for number, (title, description, owner) in enumerate(listed, 1)
    ]
    edges: Ops = [
        {"op": "add_edge", "source": source, "target": target, "mechanism": how, "confidence": confidence}
        for source, target, how, confidence in EDGES
    ]
    edges += [
        {
            "op": "add_edge",
            "source": "OC3",
            "target": "AC10",
            "edge_type": "FEEDBACK",
            "mechanism": "What goes wrong at a pump is drawn into the handbook",
        },
        {
            "op": "add_edge",
            "source": "AC4",
            "target": "AC5",
            "edge_type": "DEPENDS_ON",
            "mechanism": "The drill may not start without its permit",
            "confidence": "high",
        },
    ]
    indicators = [{"op": "add_indicator", **one} for one in INDICATORS]
    return [*nodes, *edges, *_build_assumptions(days), *indicators]


def _build_assumptions(days: Days) -> Ops:
    said: Ops = [
        {"node": "OP1", "assumption_text": "Owners sell or lend land at a price the project can pay"},
        {
            "source": "AC4",
            "target": "OP2",
            "assumption_text": "The district decides within three months",
            "risk_level": "MEDIUM",
            "owner": "ada",
            "review_by": days.offset(45),
        },
        {
            "source": "OP2",
            "target": "OC1",
            "assumption_text": "The water below 40 metres is free of arsenic",
            "risk_level": "HIGH",
            "owner": "cleo",
            "review_by": days.offset(30),
        },
        {
            "source": "AC7",
            "target": "OP3",
            "assumption_text": "The upper spring runs all year",
            "risk_level": "HIGH",
            "owner": "ben",
            "review_by": days.offset(-20),
        },
        {"node": "OC2", "assumption_text": "People go to the nearest source", "risk_level": "LOW", "owner": "cleo"},
        {
            "node": "OP5",
            "assumption_text": "Caretakers stay in their village for two years",
            "risk_level": "MEDIUM",
            "owner": "ben",
            "review_by": days.offset(-12),
        },
        {
            "source": "OP7",
            "target": "OC3",
            "assumption_text": "Eight of ten households pay the fee",
            "risk_level": "HIGH",
            "owner": "ada",
            "review_by": days.offset(60),
        },
        {
            "source": "OP4",
            "target": "OC4",
            "assumption_text": "People read the pictures as they are meant",
            "risk_level": "LOW",
        },
        {"source": "OP4", "target": "OC1", "assumption_text": "There is a next source near enough to go to"},
        {
            "node": "OC1",
            "assumption_text": "Nobody builds latrines nearer than thirty metres",
            "risk_level": "MEDIUM",
            "owner": "ben",
            "review_by": days.offset(120),
        },
        {"node": "OC4", "assumption_text": "A family can spare a can with a lid", "risk_level": "LOW"},
        {"node": "OP9", "assumption_text": "The radio link holds in the lower villages", "risk_level": "MEDIUM"},
    ]
    return [{"op": "add_assumption", **one} for one in said]
