"""Our scores of each category beside mteb's own task classes, on the same examples and the same vectors."""

import numpy as np
import pytest
import torch
from datasets import Dataset, DatasetDict
from mteb import TaskMetadata
from mteb.abstasks.classification import AbsTaskClassification
from mteb.abstasks.clustering_legacy import AbsTaskClusteringLegacy
from mteb.abstasks.pair_classification import AbsTaskPairClassification
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.sts import AbsTaskSTS
from mteb.models.model_meta import ModelMeta
from reprlab.baselines.vectors import random_vectors
from reprlab.data.schema import write_rows
from reprlab.sentences.evaluation import score_task
from reprlab.sentences.settings import Evaluation

# mteb's own seed: k-means starts there.
SEED = 42
WORDS = ["cat", "dog", "bird", "fish", "tree", "stone", "river", "cloud", "house", "wheel"]


def encode(texts, _=""):
    """Vectors in which texts that share words are alike, and noise of the text's own."""
    words = dict(zip(WORDS, random_vectors(12, 0)(WORDS, ""), strict=True))
    noise = random_vectors(12, 1)(texts, "")
    return noise + np.stack(
        [sum((words[word] for word in text.split() if word in words), np.zeros(12)) for text in texts]
    )


class Model:
    """`encode` as mteb calls it."""

    mteb_model_meta = ModelMeta.create_empty({"name": "ours/vectors", "revision": "1"})

    def __init__(self, *args, **kwargs):
        pass

    def encode(self, inputs, **kwargs):
        return encode([text for batch in inputs for text in batch["text"]]).astype(np.float32)

    def similarity(self, one, other):
        one, other = (torch.nn.functional.normalize(torch.as_tensor(side), dim=-1) for side in (one, other))
        return one @ other.T

    def similarity_pairwise(self, one, other):
        return torch.nn.functional.cosine_similarity(torch.as_tensor(one), torch.as_tensor(other))


def about(kind, metric):
    return TaskMetadata(
        name=f"Local{kind}", description="local examples", type=kind, category="t2t", eval_splits=["test"],
        eval_langs=["eng-Latn"], main_score=metric, dataset={"path": "local/none", "revision": "1"}, reference=None,
    )  # fmt: skip


def theirs(base, kind, metric, data, **more):
    """What mteb's class gives for data that it is handed."""

    def load_data(self, *args, **kwargs):
        self.dataset, self.data_loaded = {"default": data}, True

    task = type(f"Local{kind}", (base,), {"metadata": about(kind, metric), "load_data": load_data, **more})()
    scores = task.evaluate(Model(), "test", encode_kwargs={"batch_size": 16})
    return 100 * scores["default"][metric]


def ours(tmp_path, category, schema, rows, task=None, **settings):
    path = tmp_path / f"{category}.parquet"
    known = {"split": "test", "group": "0"}
    write_rows(
        path, [{"id": f"{n}", **known, **row} for n, row in enumerate(rows)], schema, {"name": "x", "title": "x"}
    )
    given = {"encoder": {"method": "none", "pooling": "last"}, "seeds": [SEED], "resamples": 2, **settings}
    tasks = [{"name": category, "category": category, **(task or {})}]
    evaluation = Evaluation.model_validate({**given, "tasks": tasks})
    return score_task(path, evaluation.tasks[0], encode, evaluation, SEED)["value"]


def texts(count, seed):
    rng = np.random.default_rng(seed)
    return [f"{WORDS[rng.integers(10)]} {WORDS[rng.integers(10)]} {seed} {n}" for n in range(count)]


def shared(one, other):
    return len(set(one.split()) & set(other.split()) & set(WORDS))


def test_likeness(tmp_path):
    pairs = [{"text_a": a, "text_b": b, "score": float(shared(a, b)) + n / 300} for n, (a, b) in
             enumerate(zip(texts(90, 1), texts(90, 2), strict=True))]  # fmt: skip
    split = Dataset.from_dict({
        "sentence1": [row["text_a"] for row in pairs], "sentence2": [row["text_b"] for row in pairs],
        "score": [row["score"] for row in pairs],
    })  # fmt: skip
    found = ours(tmp_path, "sts", "similarity", pairs)
    assert 5 < found < 95
    assert found == pytest.approx(theirs(AbsTaskSTS, "STS", "cosine_spearman", {"test": split}), abs=1e-4)


def test_pairs(tmp_path):
    pairs = [{"text_a": a, "text_b": b, "label": "same" if shared(a, b) else "other", "subset": ""}
             for a, b in zip(texts(90, 3), texts(90, 4), strict=True)]  # fmt: skip
    split = Dataset.from_dict({
        "sentence1": [row["text_a"] for row in pairs], "sentence2": [row["text_b"] for row in pairs],
        "labels": [int(row["label"] == "same") for row in pairs],
    })  # fmt: skip
    found = ours(tmp_path, "pair_classification", "pair", pairs)
    assert 30 < found < 99
    expected = theirs(AbsTaskPairClassification, "PairClassification", "cosine_ap", {"test": split})
    assert found == pytest.approx(expected, abs=1e-4)


def searched(queries, passages, judged, ranked=None):
    """Data of mteb's retrieval and reranking."""
    split = {
        "corpus": Dataset.from_dict({"id": list(passages), "text": list(passages.values())}),
        "queries": Dataset.from_dict({"id": list(queries), "text": list(queries.values())}),
        "relevant_docs": judged, "top_ranked": ranked,
    }  # fmt: skip
    return {"test": split}


def test_search(tmp_path):
    queries = {f"q{n}": text for n, text in enumerate(texts(20, 5))}
    passages = {f"p{n}": text for n, text in enumerate(texts(60, 6))}
    judged = {query: {name: shared(text, passages[name]) for name in passages if shared(text, passages[name])}
              for query, text in queries.items()}  # fmt: skip
    judged = {query: grades for query, grades in judged.items() if grades}
    rows = [
        {"query_id": query, "query": queries[query], "passage_id": name, "passage": passages[name], "relevance": grade}
        for query, grades in judged.items() for name, grade in grades.items()
    ]  # fmt: skip
    known = {row["passage_id"] for row in rows}
    rows += [{"query_id": "", "query": "", "passage_id": name, "passage": passages[name], "relevance": 0}
             for name in passages if name not in known]  # fmt: skip
    data = searched({query: queries[query] for query in judged}, passages, judged)
    found = ours(tmp_path, "retrieval", "ranking", rows)
    assert 10 < found < 95
    # mteb rounds to five places.
    assert found == pytest.approx(theirs(AbsTaskRetrieval, "Retrieval", "ndcg_at_10", data), abs=1e-3)


def test_a_part_of_the_collection_holds_what_the_asked_queries_look_for(tmp_path):
    """Of 60 passages 12 are searched by 6 queries whose own stand last in the file."""
    words = texts(60, 26)
    rows = [{"query_id": f"q{n}", "query": text, "passage_id": f"p{n}", "passage": text, "relevance": 1}
            for n, text in enumerate(words)]  # fmt: skip
    rows = [{**row, "split": "test" if n >= 54 else "train"} for n, row in enumerate(rows)]
    assert ours(tmp_path, "retrieval", "ranking", rows, {"passages": 12}) == pytest.approx(100)


def test_search_where_queries_are_passages(tmp_path):
    """ArguAna's queries are passages under the same id: the own one is not a hit there, and elsewhere it is one."""
    passages = {f"p{n}": text for n, text in enumerate(texts(60, 16))}
    queries = {name: passages[name] for name in list(passages)[:20]}
    judged = {query: {name: 1 for name in passages if name != query and shared(text, passages[name]) == 2}
              for query, text in queries.items()}  # fmt: skip
    judged = {query: grades or {"p59": 1} for query, grades in judged.items()}
    rows = [
        {"query_id": query, "query": queries[query], "passage_id": name, "passage": passages[name], "relevance": 1}
        for query, grades in judged.items() for name in grades
    ]  # fmt: skip
    known = {row["passage_id"] for row in rows}
    rows += [{"query_id": "", "query": "", "passage_id": name, "passage": passages[name], "relevance": 0}
             for name in passages if name not in known]  # fmt: skip
    data = searched(queries, passages, judged)
    found = {own: ours(tmp_path, "retrieval", "ranking", rows, {"drop_own": own}) for own in (True, False)}
    assert found[True] > found[False] + 5
    for own, value in found.items():
        expected = theirs(AbsTaskRetrieval, "Retrieval", "ndcg_at_10", data, ignore_identical_ids=own)
        assert value == pytest.approx(expected, abs=1e-3)


def test_candidates(tmp_path):
    rng = np.random.default_rng(7)
    queries, right, wrong = texts(25, 8), texts(25, 9), texts(150, 10)
    rows, passages, judged, ranked = [], {}, {}, {}
    for n, query in enumerate(queries):
        choices = [f"{right[n]} {query.split()[0]}", *wrong[6 * n : 6 * n + 6]]
        order = rng.permutation(7)
        rows.append({"context": "", "question": query, "choices": [choices[place] for place in order],
                     "answer": int(np.argmin(order))})  # fmt: skip
        names = [f"p{n}-{place}" for place in range(7)]
        passages |= dict(zip(names, rows[-1]["choices"], strict=True))
        judged[f"q{n}"], ranked[f"q{n}"] = {names[rows[-1]["answer"]]: 1}, names
    data = searched({f"q{n}": query for n, query in enumerate(queries)}, passages, judged, ranked)
    found = ours(tmp_path, "reranking", "choice", rows)
    assert 30 < found < 95
    assert found == pytest.approx(theirs(AbsTaskRetrieval, "Reranking", "map_at_1000", data), abs=1e-3)


def test_candidates_of_which_several_are_right(tmp_path):
    queries, wrong = texts(25, 14), texts(150, 15)
    rows, passages, judged, ranked = [], {}, {}, {}
    for n, query in enumerate(queries):
        # Words of the query make some candidates right.
        found = wrong[6 * n : 6 * n + 6]
        right = [text for text in found if shared(query, text)] or found[:1]
        for place, text in enumerate(found):
            name = f"p{n}-{place}"
            passages[name] = text
            ranked.setdefault(f"q{n}", []).append(name)
            if text in right:
                judged.setdefault(f"q{n}", {})[name] = 1
            rows.append({"query_id": f"q{n}", "query": query, "passage_id": name, "passage": text,
                         "relevance": int(text in right)})  # fmt: skip
    assert max(map(len, judged.values())) > 2
    data = searched({f"q{n}": query for n, query in enumerate(queries)}, passages, judged, ranked)
    # A query without a right one has no score.
    unjudged = {**rows[0], "query_id": "none", "relevance": 0}
    found = ours(tmp_path, "reranking", "ranking", [*rows, unjudged])
    assert 30 < found < 98
    assert found == pytest.approx(theirs(AbsTaskRetrieval, "Reranking", "map_at_1000", data), abs=1e-3)


def test_clusters_of_each_set(tmp_path):
    rows = [{"text": text, "label": text.split()[0], "subset": f"{n % 2}"} for n, text in enumerate(texts(300, 11))]
    sets = [[row for row in rows if row["subset"] == name] for name in "01"]
    split = Dataset.from_dict({
        "sentences": [[row["text"] for row in part] for part in sets],
        "labels": [[row["label"] for row in part] for part in sets],
    })  # fmt: skip
    found = ours(tmp_path, "clustering", "single", rows)
    assert 10 < found < 95
    expected = theirs(AbsTaskClusteringLegacy, "Clustering", "v_measure", {"test": split})
    assert found == pytest.approx(expected, abs=1e-4)


def test_few_shots(tmp_path):
    """The draws are each library's own: here each holds all examples, in another order."""
    parts = {"train": texts(80, 12), "test": texts(120, 13)}
    rows = [{"text": text, "label": text.split()[0], "subset": "", "split": name}
            for name, part in parts.items() for text in part]  # fmt: skip
    data = DatasetDict({
        name: Dataset.from_dict({"text": part, "label": [WORDS.index(text.split()[0]) for text in part]})
        for name, part in parts.items()
    })  # fmt: skip
    found = ours(tmp_path, "classification", "single", rows, per_label=99, draws=3)
    assert 30 < found < 95
    expected = theirs(AbsTaskClassification, "Classification", "accuracy", data, samples_per_label=99, n_experiments=3)
    assert found == pytest.approx(expected, abs=1e-4)
