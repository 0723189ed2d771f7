"""A model's server that says what a test tells it to, in OpenAI's and in Anthropic's words, streamed and whole.

    with ScriptedServer(script) as server: …

`script(request, number)` gets each request (its JSON, and how many came before it) and returns one of:
    Calls([(tool, arguments), …], text="")   arguments: a dict, or text as it stands
    Text("…")
    Status(429, {"Retry-After": "0"}, "…")
    Cut()           the connection ends in the middle of the answer
    Stall(seconds)  the headers come, then nothing
"""

import dataclasses
import http.server
import json
import threading


@dataclasses.dataclass
class Calls:
    calls: list
    text: str = ""


@dataclasses.dataclass
class Text:
    text: str


@dataclasses.dataclass
class Status:
    code: int
    headers: dict = dataclasses.field(default_factory=dict)
    body: str = "{}"


@dataclasses.dataclass
class Cut:
    pass


@dataclasses.dataclass
class Stall:
    seconds: float


@dataclasses.dataclass
class Raw:
    """The body as it stands, with status 200."""
    body: bytes


def arguments_text(arguments):
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def openai_chunks(said):
    def chunk(delta, finish=None):
        return {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    yield chunk({"role": "assistant", "content": said.text})
    calls = said.calls if isinstance(said, Calls) else []
    for index, (name, arguments) in enumerate(calls):
        text = arguments_text(arguments)
        half = len(text) // 2
        yield chunk({"tool_calls": [{"index": index, "id": f"id_{index}", "type": "function", "function": {"name": name, "arguments": text[:half]}}]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": text[half:]}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield {"id": "c", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}}


def openai_whole(said):
    message = {"role": "assistant", "content": said.text}
    calls = said.calls if isinstance(said, Calls) else []
    if calls:
        message["tool_calls"] = [{"id": f"id_{i}", "type": "function", "function": {"name": name, "arguments": arguments_text(arguments)}}
                                 for i, (name, arguments) in enumerate(calls)]
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


def anthropic_events(said):
    yield {"type": "message_start", "message": {"usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1}}}
    yield {"type": "ping"}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said.text}}
    yield {"type": "content_block_stop", "index": 0}
    calls = said.calls if isinstance(said, Calls) else []
    for index, (name, arguments) in enumerate(calls, 1):
        text = arguments_text(arguments)
        yield {"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}}
        for piece in (text[:7], text[7:]):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn"}, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(body)
        with self.server.lock:
            number = len(self.server.requests)
            self.server.requests.append((self.path, dict(self.headers), request))
        said = self.server.script(request, number)
        try:
            self.answer(said, request)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def head(self, code, headers, length=None):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def answer(self, said, request):
        anthropic = self.path.endswith("/messages")
        if isinstance(said, Status):
            body = said.body.encode()
            self.head(said.code, said.headers, len(body))
            self.wfile.write(body)
        elif isinstance(said, Raw):
            self.head(200, {"Content-Type": "text/event-stream"}, len(said.body))
            self.wfile.write(said.body)
        elif isinstance(said, (Cut, Stall)):
            self.head(200, {"Content-Type": "text/event-stream"}, 100000)
            first = next(openai_chunks(Text("half of a sen")))
            self.wfile.write(f"data: {json.dumps(first)}\n\n".encode())
            self.wfile.flush()
            if isinstance(said, Stall):
                self.server.leaving.wait(said.seconds)
        elif request.get("stream"):
            events = anthropic_events(said) if anthropic else openai_chunks(said)
            text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" if anthropic else f"data: {json.dumps(event)}\n\n"
                           for event in events)
            data = (text + ("" if anthropic else "data: [DONE]\n\n")).encode()
            self.head(200, {"Content-Type": "text/event-stream"}, len(data))
            for at in range(0, len(data), 1000):
                self.wfile.write(data[at:at + 1000])
                self.wfile.flush()
        else:
            data = json.dumps(openai_whole(said)).encode()
            self.head(200, {"Content-Type": "application/json"}, len(data))
            self.wfile.write(data)


class ScriptedServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.requests, self.lock, self.leaving = script, [], threading.Lock(), threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self):
        # Bounds how long shutdown() waits.
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.leaving.set()
        self.shutdown()
        self.server_close()


def create(name, text):
    return ("file_editor", {"command": "create", "path": f"pass_dir/{name}", "file_text": text})


def create_all(files):
    return Calls([create(name, text) for name, text in files.items()])


def knows_samples(*steps):
    """Answers with the n-th step of the sample that is asked about. steps: (its directory) -> an answer."""

    def answer(request, _):
        told = next(message["content"] for message in request["messages"] if message["role"] == "user")
        task = told.split("Task: ", 1)[1].split(",", 1)[0]
        return steps[min(answers_so_far(request), len(steps) - 1)](task)

    return answer


def files_of(sample):
    """The passes that a sample ships with."""
    return {path.name: path.read_text() for path in sorted((sample / "pass_dir").iterdir())}


def answers_so_far(request):
    """How often the model has answered in this conversation: what a script decides by."""
    return sum(message["role"] == "assistant" for message in request["messages"])


def results_in(request):
    """The texts of all results of tools, in order; OpenAI's form."""
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]
