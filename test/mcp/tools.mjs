// tools.mjs WORKSPACE [URL TOKEN] - every tool through the SDK, over standard input or over HTTP
import { start, connect, call, main, ok, is, like, fails, text, types, StreamableHTTPClientTransport } from "./client.mjs";
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";

const [workspace, url, token] = process.argv.slice(2);
const file = (name) => join(workspace, name);
const how = url ? "http" : "stdio";

async function open() {
  if (!url) return start(["-w", workspace]);
  return connect(new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }));
}

await main(async () => {
  const client = await open();
  is(`${how}: the newest revision is spoken`, client.transport.protocolVersion ?? types.LATEST_PROTOCOL_VERSION,
     types.LATEST_PROTOCOL_VERSION);
  is(`${how}: it says who it is`, client.getServerVersion().name, "coop");
  like(`${how}: it instructs the model`, client.getInstructions(), /workspace is \/work/);
  await client.ping();
  const logged = [];
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => { logged.push(params); });
  await client.setLoggingLevel("debug");

  const { tools } = await client.listTools();
  is(`${how}: every tool is listed`, tools.map((tool) => tool.name).sort(), [
    "bash", "edit_file", "git_commit", "git_diff", "git_log", "git_stage", "git_status", "glob", "grep",
    "job_input", "job_output", "job_stop", "jobs", "list_dir",
    "make_dir", "move", "read_file", "remove", "stat", "symlink", "write_file"]);
  ok(tools.every((tool) => tool.inputSchema.type === "object" && tool.description && tool.title),
     `${how}: each has a schema, a title and a description`);
  is(`${how}: reading is said to be harmless`, tools.find((tool) => tool.name === "read_file").annotations.readOnlyHint, true);
  is(`${how}: removing is not`, tools.find((tool) => tool.name === "remove").annotations.destructiveHint, true);

  // Each result with structured content was checked against its schema by the SDK.
  let result = await call(client, "write_file", { path: "src/a.txt", content: "one\ntwo\nthree\n", create_parents: true });
  ok(!result.refused, `${how}: write_file`, result);
  is(`${how}: and it is there`, readFileSync(file("src/a.txt"), "utf8"), "one\ntwo\nthree\n");
  result = await call(client, "read_file", { path: "/work/src/a.txt", offset: 2, limit: 1 });
  like(`${how}: read_file`, result.said, /two/);
  ok(result.structuredContent, `${how}: with structured content`, result);
  result = await call(client, "edit_file", { path: "src/a.txt", edits: [{ old_text: "two", new_text: "zwei" }] });
  like(`${how}: edit_file shows a diff`, result.said, /^\+zwei/m);
  like(`${how}: list_dir`, (await call(client, "list_dir", { path: "src" })).said, /a\.txt/);
  like(`${how}: glob`, (await call(client, "glob", { pattern: "*.txt" })).said, /a\.txt/);
  like(`${how}: grep`, (await call(client, "grep", { pattern: "z.ei" })).said, /zwei/);
  like(`${how}: stat`, (await call(client, "stat", { path: "src/a.txt" })).said, /15|14|file/);
  ok(!(await call(client, "make_dir", { path: "made" })).refused && existsSync(file("made")), `${how}: make_dir`);
  ok(!(await call(client, "move", { source: "src/a.txt", destination: "made/b.txt" })).refused &&
     existsSync(file("made/b.txt")), `${how}: move`);
  ok(!(await call(client, "symlink", { target: "made/b.txt", path: "link" })).refused, `${how}: symlink`);
  like(`${how}: a link is followed`, (await call(client, "read_file", { path: "link" })).said, /zwei/);
  ok(!(await call(client, "remove", { path: "link" })).refused && !existsSync(file("link")), `${how}: remove`);
  result = await call(client, "bash", { command: "echo out; echo err >&2; exit 3" });
  like(`${how}: bash says the exit code`, result.said, /3/);
  like(`${how}: and what was printed`, result.said, /out/);

  for (const [name, args, pattern] of [
    ["bash", { command: "git init -q . && git config user.email a@b && git config user.name a" }, /^/],
    ["git_status", {}, /made\//],
    ["git_stage", { paths: ["made"] }, /^/],
    ["git_diff", { staged: true }, /\+zwei/],
    ["git_commit", { message: "first" }, /first/],
    ["git_log", {}, /first/],
  ]) {
    result = await call(client, name, args);
    ok(!result.refused && pattern.test(result.said), `${how}: ${name}`, result);
  }

  while (!logged.some(({ data }) => /git_log took/.test(data))) await new Promise((resolve) => setTimeout(resolve, 10));
  is(`${how}: what was done is logged`, [logged[0].level, logged[0].logger], ["debug", "coop"]);

  // A picture is a picture.
  writeFileSync(file("dot.png"), Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  result = await call(client, "read_file", { path: "dot.png" });
  const picture = result.content.find((item) => item.type === "image");
  is(`${how}: a picture comes as such`, picture?.mimeType, "image/png");
  is(`${how}: byte for byte`, Buffer.from(picture?.data ?? "", "base64").equals(readFileSync(file("dot.png"))), true);

  // What may not be done is said in words.
  writeFileSync(file(".env"), "SECRET=1\n");
  for (const [what, name, args] of [
    ["a protected file", "read_file", { path: ".env" }],
    ["a file outside", "read_file", { path: "/etc/shadow" }],
    ["a way out", "write_file", { path: "../x", content: "" }],
    ["git's hooks", "write_file", { path: ".git/hooks/pre-commit", content: "" }],
    ["an argument that does not exist", "read_file", { path: "a", ofset: 1 }],
    ["a missing argument", "read_file", {}],
  ]) {
    result = await call(client, name, args);
    ok(result.refused?.length > 20, `${how}: ${what} is refused in words`, result);
  }
  like(`${how}: a wrong argument is told the right one`,
       (await call(client, "read_file", { path: "a", ofset: 1 })).refused, /offset/);
  await fails(`${how}: a tool that does not exist is an error of the protocol`,
              call(client, "no_such_tool"), /-32602/);

  // Resources.
  const { resources } = await client.listResources();
  const uris = resources.map((resource) => resource.uri);
  ok(uris.includes("file:///work/made/b.txt"), `${how}: files are resources`, uris);
  ok(!uris.some((uri) => uri.includes(".env")), `${how}: but not the protected ones`, uris);
  is(`${how}: a resource is read`, (await client.readResource({ uri: "file:///work/made/b.txt" })).contents[0].text,
     "one\nzwei\nthree\n");
  const blob = (await client.readResource({ uri: "file:///work/dot.png" })).contents[0];
  is(`${how}: a binary one as a blob`, [blob.mimeType, Buffer.from(blob.blob, "base64").length], ["image/png", 70]);
  await fails(`${how}: one that is not there is said to be so`, client.readResource({ uri: "file:///work/none" }), /-32002/);
  await fails(`${how}: a protected one cannot be read`, client.readResource({ uri: "file:///work/.env" }), /-32002/);
  like(`${how}: there is a template`, (await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, /\/work\/\{\+path\}/);

  // A slow command holds nothing up, and is heard of while it runs.
  const heard = [];
  const order = [];
  const slow = call(client, "bash", { command: "echo begun; until [ -e go ]; do sleep 0.02; done; echo ended" },
                    { onprogress: (progress) => heard.push(progress) }).then((r) => { order.push("bash"); return r; });
  while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  like(`${how}: progress is told with the last line`, heard[0].message, /begun/);
  await call(client, "read_file", { path: "made/b.txt" });
  order.push("read");
  await call(client, "write_file", { path: "go", content: "" });
  like(`${how}: and the answer comes`, (await slow).said, /ended/);
  is(`${how}: a read overtakes a slow command`, order, ["read", "bash"]);
  while (heard.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
  ok(heard.every((progress, i) => i === 0 || progress.progress > heard[i - 1].progress), `${how}: progress only grows`, heard);

  // Many at once.
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) =>
    call(client, i % 2 ? "read_file" : "bash", i % 2 ? { path: "made/b.txt" } : { command: `echo number ${i}` })));
  ok(answers.every((answer, i) => (i % 2 ? /zwei/ : new RegExp(`number ${i}\n`)).test(answer.said)),
     `${how}: sixty calls at once are each answered`, answers.map((answer) => answer.said));

  // Cancelling ends the box.
  const abort = new AbortController();
  const cancelled = call(client, "bash", { command: "echo $$ > pid; exec sleep 98761" }, { signal: abort.signal });
  cancelled.catch(() => {});
  while (!existsSync(file("pid"))) await new Promise((resolve) => setTimeout(resolve, 10));
  abort.abort("enough");
  await fails(`${how}: a cancelled call ends`, cancelled, /enough|abort/i);
  for (;;) {
    const { said } = await call(client, "bash", { command: "true" });
    if (said !== undefined) break;
  }
  if (url) await client.transport.terminateSession();
  await client.close();
});
