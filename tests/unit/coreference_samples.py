"""Documents with chains, for the tests of coreference."""

from pathlib import Path

from reprlab.coreference.rows import AnnotatedText

# Two parts of one document in the columns of CoNLL-2012: nested mentions, two that end together, a singleton, an
# escaped full stop, predicate columns, and a sentence by another speaker.
CONLL = """\
#begin document (bc/cctv/00/cctv_0000); part 000
bc/cctv/00/cctv_0000   0   0      Anna    NNP  (TOP(S(NP(NP*   -   -   -   Speaker#1   (PERSON*   *   (ARG0*   (0|(3
bc/cctv/00/cctv_0000   0   1        's    POS             *)   -   -   -   Speaker#1          *)   *        *         0)
bc/cctv/00/cctv_0000   0   2    brother    NN             *)   -   -   -   Speaker#1           *   *        *)       3)
bc/cctv/00/cctv_0000   0   3      slept   VBD         (VP*)  sleep 01   1   Speaker#1           *  (V*)      *        -
bc/cctv/00/cctv_0000   0   4         /.     .            *))   -   -   -   Speaker#1           *   *        *         -

bc/cctv/00/cctv_0000   0   0        He    PRP  (TOP(S(NP*)   -   -   -   Speaker#2           *   *    (ARG0*)      (3)
bc/cctv/00/cctv_0000   0   1       told   VBD         (VP*  tell 01   1   Speaker#2           *   *       (V*)        -
bc/cctv/00/cctv_0000   0   2        her   PRP        (NP*)   -   -   -   Speaker#2           *   *    (ARG2*)   (0)|(5)
bc/cctv/00/cctv_0000   0   3          .     .           *))   -   -   -   Speaker#2           *   *         *         -

#end document
#begin document (bc/cctv/00/cctv_0000); part 001
bc/cctv/00/cctv_0000   1   0     Paris    NNP  (TOP(S(NP*)   -   -   -   Speaker#1       (GPE)   *   (2)
bc/cctv/00/cctv_0000   1   1       woke   VBD         (VP*)  wake 01   1   Speaker#1           *  (V*)   -
bc/cctv/00/cctv_0000   1   2          .     .           *))   -   -   -   Speaker#1           *   *     -

#end document
"""


def litbank(name: str = "1_a_novel_brat") -> str:
    """LitBank's columns: between tabs, no column of a predicate, an empty last one."""
    rows = [("Emma", "(0)"), ("saw", ""), ("the", "(1"), ("house", "1)"), (".", ""), None, ("It", "(1)"), ("fell", "")]
    lines, place = [f"#begin document ({name}); part 0"], 0
    for row in rows:
        lines.append("" if row is None else "\t".join([name, "0", str(place), row[0], *["_"] * 8, row[1]]))
        place = 0 if row is None else place + 1
    return "\n".join([*lines, "", "#end document", ""])


def text(sentences: str, clusters: list[list[tuple[int, int]]], key: str = "nw_0") -> AnnotatedText:
    """A text of sentences between bars, with one speaker."""
    words = [sentence.split() for sentence in sentences.split("|")]
    return AnnotatedText(key, "train", words, ["-"] * sum(map(len, words)), clusters)


def write(folder: Path, name: str, content: str) -> Path:
    """A file with this content."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def bert_tokenizer(folder: Path):
    """A tokenizer of BERT's kind, saved in `folder`: some words, and letters for all others."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,'|"
    words = ["the", "good", "bad", "film", "was", "he", "she", "emma", "anna", "##s", "house"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters), *words]
    vocabulary = list(dict.fromkeys(vocabulary))
    backend = Tokenizer(models.WordPiece({one: place for place, one in enumerate(vocabulary)}, unk_token="[UNK]"))
    backend.normalizer, backend.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    marks = [(one, vocabulary.index(one)) for one in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    return tokenizer
