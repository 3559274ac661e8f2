"""Results of any paper: tables, comparison, audit, claims, figures and the report."""

from reprlab.planning.stage import Stage, table, within

STAGES = (
    Stage(
        "gather_results",
        "Gather the results of {paper}",
        within("results/{paper}", out="results.parquet", provenance="results.provenance.json"),
        mb=4000,
    ),
    Stage(
        "tabulate_paper",
        "Write the table {table} of {paper}",
        table("{table}"),
        local=True,
        heading="Tables",
    ),
    Stage(
        "sample_predictions",
        "Sample predictions of {paper} for annotation",
        table("error_sample"),
        local=True,
        heading="Predictions for annotation",
    ),
    Stage(
        "compare_published",
        "Put the numbers of {paper} beside the published ones",
        table("comparison"),
        mb=1000,
        minutes=10,
        local=True,
        heading="Beside the published values",
    ),
    Stage(
        "audit_paper",
        "Audit the arithmetic of {paper}",
        table("audit"),
        minutes=10,
        heading="Audit of the paper's arithmetic",
    ),
    Stage(
        "test_claims",
        "Test the claims of {paper}",
        table("claims"),
        local=True,
        heading="Claims",
    ),
    Stage(
        "estimate_cost",
        "Estimate the cost of {paper}",
        table("cost"),
        mb=1000,
        minutes=10,
        heading="Cost",
    ),
    Stage(
        "sum_hours",
        "Sum the hours of {paper}",
        table("gpu_hours"),
        mb=1000,
        minutes=10,
        heading="Hours",
    ),
    Stage(
        "plot_figure",
        "Draw {figure} of {paper}",
        {ending: f"results/{{paper}}/{{figure}}.{ending}" for ending in ("png", "svg", "pdf")},
        mb=1000,
        minutes=10,
        local=True,
        heading="Figures",
    ),
    Stage(
        "gather_neighbours",
        "Gather the neighbours of all papers",
        within("results", out="neighbours.tsv", provenance="neighbours.provenance.json"),
        local=True,
    ),
    Stage(
        "write_report",
        "Write the report",
        {"out": "results/report.html", "summary": "results/summary.tsv"},
        mb=1000,
        minutes=10,
        local=True,
    ),
)
