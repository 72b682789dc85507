"""Which of the paper's claims hold."""

from mczsl.reports.reproducibility import Standing, reproducibility


def test_every_pair_is_a_claim_about_both() -> None:
    rows = [
        Standing("ours", "M", 60.0, 51.3),
        Standing("ours as printed", "M", 40.0, 51.3),
        Standing("rival", "R", 50.0, 47.0),
        Standing("lower bound", "S", 5.0, 4.2),
    ]
    assert reproducibility(rows) == [
        "2 of 2",
        "1 of 2; not above rival",
        "2 of 3; not below ours as printed",
        "3 of 3",
    ]


def test_without_a_figure_there_is_no_claim() -> None:
    rows = [
        Standing("unreported", "A", 60.0, None),
        Standing("not run", "B", None, 51.3),
        Standing("alone", "C", 50.0, 47.0),
    ]
    assert reproducibility(rows) == ["", "", ""]


def test_a_tie_upholds_no_order() -> None:
    rows = [Standing("A", "A", 5.0, 2.0), Standing("B", "B", 5.0, 1.0)]
    assert reproducibility(rows) == ["0 of 1; not above B", "0 of 1; not below A"]
