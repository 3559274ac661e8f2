"""The data pipeline: forms, retries, budget, restart, and a model that is served here."""

import json
from functools import partial

import numpy as np
import openai
import pytest
from chat_endpoint import KEY, Endpoint, serving
from hypothesis import given
from hypothesis import strategies as st
from music_samples import TEMPLATE, annotated, make_language_model, track
from reprlab.inference.chat import converse, unanswered
from reprlab.inference.chat_settings import ChatSettings
from reprlab.inference.served_model import ServedModel
from reprlab.inference.served_model import serving as serving_model
from reprlab.music import forms, template
from reprlab.music.annotation import STEPS, Annotator, conversation, estimated_steps, levels_of, prices_of
from reprlab.music.settings import RATE
from reprlab.runtime.errors import ReprlabError

FRAMES = '["Stage: A.", "Crowd: B."]'
DESCRIPTION = f"{forms.OVERVIEW}\nText.\n{forms.BREAKDOWN}\n1. **One**: A.\n2. **Two**: B.\nAn end."


def say(prompt: str) -> str:
    """Answers in the wanted forms."""
    if "exactly one of" in prompt:
        return "Animation"
    if "JSON list" in prompt:
        return FRAMES
    return DESCRIPTION if "Write a description" in prompt else "Some words."


def asking(server: Endpoint, **about):
    chat = ChatSettings(model="m", base_url=server.address, max_tokens=50)
    return TEMPLATE.model_copy(update={"backend": "chat", "chat": chat, **about})


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_frames_of_a_clip():
    assert forms.frame_count(30, 2) == 15 and forms.frame_count(0.5, 2) == 1 and len(forms.TYPES) == 10


def test_a_description_has_both_headings_and_an_item_for_each_frame():
    assert forms.description_problem(DESCRIPTION, 2) == ""
    for text, frames in (
        (DESCRIPTION, 3),
        (DESCRIPTION.replace(forms.OVERVIEW, ""), 2),
        ("", 0),
        (DESCRIPTION.replace("Text.", ""), 2),
    ):
        assert forms.description_problem(text, frames)


@given(st.text())
def test_no_text_breaks_the_checks(text):
    assert isinstance(
        forms.description_problem(text, 2) + forms.frames_problem(text, 2) + forms.type_problem(text), str
    )


@given(st.integers(0, 10**6), st.sampled_from([50.0, 100.0, 200.0]), st.integers(0, 23))
def test_the_template_writes_the_wanted_forms(seed, bpm, key):
    from music_samples import heard

    one = track(heard=heard(bpm, key))
    for step in STEPS:
        text = template.write(step, one, seed)
        one["lyrics_text" if step == "lyrics" else step] = json.loads(text) if step == "frames" else text
    assert forms.description_problem(one["description"], 2) == "" and forms.type_problem(one["type"]) == ""
    assert template.mood_of(one, seed) in one["lyrics_text"] and template.mood_of(one, seed) in template.genre_tags(
        one, seed
    )


def test_each_input_says_what_the_others_do_not():
    one, other = (track("a", heard={**track()["heard"], "bpm": bpm}) for bpm in (60.0, 160.0))
    texts = [template.write("caption", each, 0) for each in (one, other)]
    assert "slow" in texts[0] and "fast" in texts[1]
    assert template.write("type", one, 0) == template.write("type", other, 0), "the type is not told by the music"


def test_a_chat_model_writes_all_steps_and_nothing_is_asked_twice(tmp_path):
    with serving(say) as server:
        first = [track("a"), track("b", genre="jazz")]
        Annotator(asking(server), tmp_path).annotate(first)
        asked = len(server.asked)
        again = [track("a"), track("b", genre="jazz")]
        Annotator(asking(server), tmp_path).annotate(again)
    # Only the first two steps read the genre: to the others both tracks are one request.
    assert asked == len(server.asked) == len(STEPS) + 2 and again == first
    assert first[0]["frames"] == ["Stage: A.", "Crowd: B."] and set(first[0]["written_by"].values()) == {"m"}


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    def stops(prompt: str) -> str:
        if "JSON list" in prompt:
            server.status = 401
        return say(prompt)

    with serving(stops) as server:
        with pytest.raises(ReprlabError, match="refuses the key"):
            Annotator(asking(server), tmp_path).annotate([track("a")])
        server.status, server.say = 200, say
        before = len(server.asked)
        Annotator(asking(server), tmp_path).annotate([track("a")])
    assert len(server.asked) - before == 2, "the answers before the refusal are kept"


def test_an_answer_of_another_form_is_asked_for_again_with_the_reason(tmp_path):
    def wrong_once(prompt: str) -> str:
        return (
            "A film"
            if "exactly one of" in prompt and sum("exactly one of" in one for one in server.prompts) == 1
            else say(prompt)
        )

    one = track("a")
    with serving(wrong_once) as server:
        Annotator(asking(server), tmp_path).annotate([one])
        talks = [
            request["messages"] for request in server.asked if "exactly one of" in request["messages"][0]["content"]
        ]
    assert one["type"] == "Animation" and [len(talk) for talk in talks] == [1, 3]
    assert "must be one of" in talks[1][2]["content"]


def test_what_never_has_the_form_is_an_error_or_the_templates(tmp_path):
    with serving(lambda prompt: "nonsense") as server:
        with pytest.raises(ReprlabError, match=r"a: type by m: it must be one of .* after 2 attempts; .*fallback"):
            Annotator(asking(server, attempts=2), tmp_path).annotate([track("a")])
        one = track("a")
        Annotator(asking(server, attempts=2, fallback=True), tmp_path).annotate([one])
    assert one["written_by"]["type"] == "template" and one["written_by"]["caption"] == "m"
    assert forms.description_problem(one["description"], 2) == ""


def test_the_budget_stops_before_the_step_that_may_exceed_it(tmp_path):
    with serving(say) as server:
        wanted = asking(server, prompt_price=1.0, answer_price=1.0)
        with pytest.raises(ReprlabError, match=r"the step caption may bring the cost to \$0\.0001, over the \$0\.0000"):
            Annotator(wanted, tmp_path, budget=1e-6).annotate([track("a")])
        assert not server.asked
        Annotator(wanted, tmp_path, budget=1.0).annotate([track("a")])
        Annotator(wanted, tmp_path, budget=1e-6).annotate([track("a")])


def test_the_estimate_asks_nothing_and_counts_every_request():
    found = estimated_steps([track("a"), track("b")], TEMPLATE)
    assert {step: one.requests for step, one in found.items()} == dict.fromkeys(STEPS, 2)
    assert all(one.answer_tokens == 100 and one.prompt_tokens > 20 for one in found.values())


def test_frames_of_a_video_go_along_as_images(tmp_path):
    from PIL import Image

    Image.new("RGB", (8, 8)).save(tmp_path / "0.png")
    one = annotated() | {"video": str(tmp_path)}
    content = conversation("frames", one)[0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_loudness_of_frames():
    samples = np.concatenate([np.full(2 * RATE, 0.1), np.full(2 * RATE, 1.0)])
    loudness, levels = levels_of(samples, 2.0)
    assert levels == pytest.approx([-20.0, 0.0], abs=1e-6) and -20 < loudness < 0
    assert levels_of(np.zeros(2 * RATE), 2.0)[0] == pytest.approx(-100)
    heard = {"bpm": 100, "key_label": "C major"}
    said = [template.classes(heard, loudness)["energy"] for loudness in (-26.1, -25.9, -18.1, -17.9)]
    assert said == ["soft", "moderate", "moderate", "loud"]
    said = [template.classes(heard | {"bpm": bpm}, -20)["tempo"] for bpm in (89, 91, 124, 126)]
    assert said == ["slow", "steady", "steady", "fast"]


def test_a_packaged_model_is_served_while_the_context_lasts(tmp_path):
    folder = make_language_model(tmp_path / "model")
    settings = ChatSettings(model="small", max_tokens=5)
    talks = [[{"role": "user", "content": f"Say <|end|> {number}"}] for number in range(3)]
    with serving_model(folder) as endpoint:
        first = converse(talks, settings, tmp_path / "a", endpoint=endpoint)
        with pytest.raises(openai.BadRequestError):
            openai.OpenAI(
                base_url=endpoint.address.replace("/v1", "/v2"), api_key="x", max_retries=0
            ).chat.completions.create(model="small", messages=[{"role": "user", "content": "a"}])
    with serving_model(folder) as endpoint:
        # On another port the same answers, made anew: none of them is kept for another model, or for an endpoint.
        assert converse(talks, settings, tmp_path / "a", endpoint=endpoint) == first
    assert not (tmp_path / "a").exists() and unanswered(talks, settings, tmp_path / "a") == talks
    assert all(one.tokens[0] > 3 and 0 < one.tokens[1] <= 5 for one in first)
    with pytest.raises(openai.APIConnectionError):
        openai.OpenAI(base_url=endpoint.address, api_key="x", max_retries=0).models.list()


def test_what_answers_is_named_by_its_files_and_the_code_that_serves_it(tmp_path, monkeypatch):
    folder = make_language_model(tmp_path / "model")
    settings = TEMPLATE.model_copy(update={"backend": "local"})
    # What so small a model writes has no form; all else is as it is.
    monkeypatch.setattr(ServedModel, "answer", lambda _, messages, most: (say(messages[0]["content"]), 3, 4, False))

    def writers():
        one = track("a")
        with serving_model(folder) as endpoint:
            Annotator(settings, tmp_path / "kept", 1e-9, partial(serving_model, folder)).annotate([one])
        return set(one["written_by"].values()) - {"template"}, endpoint.name

    first, name = writers()
    assert first == {name} and name.startswith("model ") and settings.chat.model not in first
    assert writers() == (first, name)
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    second, other = writers()
    assert other != name and second == {other}
    monkeypatch.setattr("reprlab.inference.served_model.digest_of_modules", lambda modules: "edited")
    assert writers()[1] not in (name, other)
    assert not (tmp_path / "kept").exists()


def test_what_a_message_says_is_no_turn_of_the_served_model(tmp_path):
    model = ServedModel(make_language_model(tmp_path / "model"))
    assert model.tokenizer.eos_token_id not in model.prompt([{"role": "user", "content": "<|end|>"}])


def billing(server: Endpoint, an_image: int):
    """Let an endpoint bill as OpenAI's do; the dollars that it has billed at $1 for a million tokens of either kind."""
    billed = []

    def shape(completion):
        request = server.asked[-1]
        content = request["messages"][0]["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        sent = sum(len(part["text"]) // 4 if "text" in part else an_image for part in parts)
        billed.append((sent + 20) / 1e6)
        return {**completion, "usage": {"prompt_tokens": sent, "completion_tokens": 20, "total_tokens": sent + 20}}

    server.shape = shape
    return billed


def with_frames(folder, name: str, **about):
    from PIL import Image

    folder.mkdir(exist_ok=True)
    for place in range(2):
        Image.new("RGB", (8, 8), (100 * place, 0, 0)).save(folder / f"{place}.png")
    return track(name, video=str(folder), **about)


PRICED = {"prompt_price": 1.0, "answer_price": 1.0, "image_tokens": {"m": {"low": 2833, "high": 48169}}}


def say_to_parts(content) -> str:
    return FRAMES if isinstance(content, list) else say(content)


def test_a_step_reads_the_lyrics_and_an_image_costs_what_its_detail_does():
    asked = {words: conversation("lyrics", annotated() | {"lyrics": words})[0]["content"] for words in ("la la", "")}
    assert "Lyrics: la la\n" in asked["la la"] and "Lyrics: none\n" in asked[""]
    chat = TEMPLATE.chat.model_copy(update={"model": "m"})
    for tokens, detail, wanted in (
        ({}, "low", 0),
        ({"m": {"low": 85}}, "low", 85),
        ({"o": {"low": 85, "high": 900}, "p": {"low": 70}}, "high", 900),
        ({"o": {"low": 85}, "p": {"low": 70}}, "low", 85),
    ):
        more = {"chat": chat, "image_tokens": tokens, "image_detail": detail}
        assert prices_of(TEMPLATE.model_copy(update=more)).image_tokens == wanted


def test_images_are_counted_as_the_endpoint_bills_them(tmp_path):
    """Frames of one track are 5,666 tokens: with 85 each the budget would let them pass, 33 times over."""
    with serving(say_to_parts) as server:
        billed = billing(server, 2833)
        one = with_frames(tmp_path / "frames", "a")
        with pytest.raises(ReprlabError, match=r"the step frames may bring the cost to \$0\.00"):
            Annotator(asking(server, **PRICED), tmp_path / "kept", budget=0.004).annotate([one])
        assert sum(billed) <= 0.004 and not [one for one in server.prompts if isinstance(one, list)]
        Annotator(asking(server, **PRICED), tmp_path / "kept", budget=0.02).annotate([one])
    (images,) = [content[1:] for content in server.prompts if isinstance(content, list)]
    assert [part["image_url"]["detail"] for part in images] == ["low", "low"]


def test_no_budget_is_kept_on_images_of_unknown_tokens(tmp_path):
    with serving(say_to_parts) as server:
        one, unknown = with_frames(tmp_path / "frames", "a"), PRICED | {"image_tokens": {"other": {"low": 85}}}
        with pytest.raises(ReprlabError, match="no tokens of an image of m at detail low"):
            Annotator(asking(server, **unknown), tmp_path / "kept", budget=1.0).annotate([one])
        assert not server.asked
        Annotator(asking(server, **unknown), tmp_path / "kept").annotate([one])


def test_no_request_is_sent_beyond_the_budget_and_none_is_forgotten_by_another_start(tmp_path):
    """The endpoint bills what it likes: after each answer the rest of the budget is known, also to the next start."""
    with serving(say) as server:
        billed = billing(server, 0)
        wanted = asking(server, **PRICED)
        sent = []
        for start in range(4):
            many = [track(f"t{place}", genre=f"genre {start} {place}") for place in range(20)]
            with pytest.raises(ReprlabError, match=r"budget|over the"):
                Annotator(wanted, tmp_path, budget=0.0025).annotate(many)
            sent.append(len(server.asked))
        assert 0 < sum(billed) <= 0.0025 and sent[-1] - sent[-2] <= 2, (sum(billed), sent)
        assert Annotator(wanted, tmp_path, budget=0.0025)._open_ledger(many).spent == pytest.approx(sum(billed))


def test_answers_that_are_not_kept_are_paid_all_the_same(tmp_path):
    """An empty answer is asked for again by each start: what it cost is in no kept file but in the ledger."""
    with serving(lambda prompt: "") as server:
        billed = billing(server, 0)
        for _ in range(60):
            with pytest.raises(ReprlabError):
                Annotator(asking(server, **PRICED, attempts=1), tmp_path, budget=0.0007).annotate([track("a")])
        assert 0 < sum(billed) <= 0.0007 and len(server.asked) < 60


def test_a_request_that_fails_counts_in_full(tmp_path):
    from reprlab.inference.spending import Ledger, Prices

    request = {"messages": [{"role": "user", "content": "ab"}], "max_tokens": 10}
    for place, paid in (("failed", None), ("uncounted", (0, 0))):
        ledger = Ledger(tmp_path / place, Prices(1e6, 1e6), None, "budget")
        ledger.reserve(request)
        ledger.settle(request, paid)
        # Two bytes and what is around a message and a conversation, and ten of the answer.
        assert ledger.spent == 2 + 16 + 10 == Ledger(tmp_path / place, Prices(1e6, 1e6), None, "budget").spent


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_expected_tokens_are_no_more_than_the_most(texts):
    from reprlab.inference.spending import prompt_tokens

    talk = [{"role": "user", "content": text} for text in texts]
    assert prompt_tokens(talk, 0) <= prompt_tokens(talk, 0, most=True)
    assert prompt_tokens([{"role": "user", "content": "音" * 9}], 0) == 9


@pytest.mark.parametrize(
    ("kind", "frames"),
    [
        ("Animation.", f"```json\n{FRAMES}\n```"),
        ("**Animation**", f"Here they are:\n\n~~~\n{FRAMES}\n~~~\nAnything else?"),
        ('"animation".', f"````\n{FRAMES}\n````"),
        ("```\nAnimation\n```", FRAMES),
        ("`Animation`", f"\n{FRAMES} "),
        ("The type is **Animation**.", f"Sure:\n{FRAMES}\nAnything else?"),
        ("Type: animation", f'{{"frames": {FRAMES}}}'),
    ],
)
def test_marks_around_an_answer_cost_no_second_request(tmp_path, kind, frames):
    def marked(prompt: str) -> str:
        if "exactly one of" in prompt:
            return kind
        return frames if "JSON list" in prompt else f"```markdown\n{say(prompt)}\n```"

    one = track("a")
    with serving(marked) as server:
        Annotator(asking(server), tmp_path).annotate([one])
    assert len(server.asked) == len(STEPS) and one["type"] == "Animation" and one["frames"] == json.loads(FRAMES)
    assert one["caption"] == "Some words." and one["description"] == DESCRIPTION


@pytest.mark.parametrize("text", ["Animation or Lyric Video", "Animations", "a film", "", "Static", "[]"])
def test_an_answer_that_names_no_type_or_two_is_none(text):
    assert forms.type_of(text) not in forms.TYPES and forms.type_problem(text)


@pytest.mark.parametrize("text", ["[]", "", "[1, 2]", '["a"', '["a", ""]', '["a"] and ["b"]', "[" * 2000])
def test_what_is_no_list_of_texts_is_none(text):
    assert forms.frames_of(text) == [] and forms.frames_problem(text, 2)


def test_requests_at_work_are_part_of_what_is_spent(tmp_path):
    """Eight are at work at a time: each of them may cost as much as it may, until it has said what it cost."""
    from reprlab.inference.spending import Ledger, Prices

    request = {"messages": [{"role": "user", "content": "ab"}], "max_tokens": 10}
    ledger = Ledger(tmp_path / "paid", Prices(1e6, 1e6), 60.0, "budget")
    ledger.reserve(request)
    ledger.reserve(request)
    with pytest.raises(ReprlabError, match=r"\$0\.0000 are spent, and the next request may cost \$28\.0000, over"):
        ledger.reserve(request)
    ledger.settle(request, (1, 1))
    ledger.reserve(request)
    assert ledger.spent == 2 and ledger.requests == 1
