// alias.mjs DIRECTORY OTHER - the same calls to the reference filesystem server and to coop, side by side
//
// Both get the same directory arguments. What they answer must be the same, but for the order of
// names and for the words of errors.
import { start, call, main, ok, is, server_filesystem, types } from "./client.mjs";
import { mkdirSync, writeFileSync, readFileSync, rmSync, readdirSync, utimesSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const [directory, other] = process.argv.slice(2);
const at = (name) => join(directory, name);

function make() {
  for (const place of [directory, other]) // the directories themselves are held open
    for (const name of readdirSync(place)) rmSync(join(place, name), { recursive: true, force: true });
  mkdirSync(at("sub/deep"), { recursive: true });
  mkdirSync(at("empty"));
  mkdirSync(at("node_modules/x"), { recursive: true });
  writeFileSync(at("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
  writeFileSync(at("no-newline"), "one\ntwo");
  writeFileSync(at("crlf.txt"), "one\r\ntwo\r\nthree\r\n");
  writeFileSync(at("indented.c"), "int f(void)\n{\n    if (x)\n        return 1;\n    return 0;\n}\n");
  writeFileSync(at("twice.txt"), "same\nother\nsame\n");
  writeFileSync(at("ticks.md"), "```js\nx\n```\n");
  writeFileSync(at("bytes.bin"), Buffer.from([0, 255, 254, 10, 65]));
  writeFileSync(at("picture.png"), Buffer.from("89504e470d0a1a0a", "hex"));
  writeFileSync(at("sound.mp3"), "ID3");
  writeFileSync(at("big.txt"), Array.from({ length: 3000 }, (_, i) => `this is line ${i}\n`).join(""));
  writeFileSync(at("sub/b.txt"), "b\n");
  writeFileSync(at("sub/deep/c.txt"), "c\n");
  writeFileSync(at("sub/deep/.hidden"), "h\n");
  writeFileSync(at("node_modules/x/index.js"), "x\n");
  writeFileSync(at("empty.txt"), "");
  writeFileSync(at("ümläut €.txt"), "u\n");
  writeFileSync(join(other, "o.txt"), "o\n");
  symlinkSync("a.txt", at("link"));
  for (const name of ["a.txt", "no-newline", "crlf.txt"]) utimesSync(at(name), 1700000000, 1700000000);
}

const same = (value) => value;
const sorted = (result) => ({ said: result.said.split("\n").sort().join("\n") });
const tree = (value) => Array.isArray(value)
  ? value.map((item) => ({ ...item, ...(item.children ? { children: tree(item.children) } : {}) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)) : value;
const trees = (result) => ({ said: JSON.stringify(tree(JSON.parse(result.said))) });
const pretty = (result) => ({ said: result.said.replace(/"(name|type)": "[^"]*"/g, '"$1": _').split("\n").sort().join("\n") });
// Access times and the moment of creation are the file's; who reads first changes the first.
const info = (result) => ({ said: result.said.replace(/^(accessed|created): \w{3} \w{3} \d\d \d{4} [\d:]{8} GMT[+-]\d{4} \(.*\)$/gm, "$1: when") });

// name, arguments, how to compare
const readings = [
  ["read_text_file", { path: at("a.txt") }],
  ["read_file", { path: at("a.txt") }],
  ["read_text_file", { path: "a.txt" }],
  ["read_text_file", { path: at("link") }],
  ["read_text_file", { path: at("bytes.bin") }],
  ["read_text_file", { path: at("big.txt") }],
  ["read_text_file", { path: at("empty.txt") }],
  ["read_text_file", { path: join(other, "o.txt") }],
  ["read_text_file", { path: at("ümläut €.txt") }],
  ...[1, 2, 5, 6, 100].flatMap((n) => [
    ["read_text_file", { path: at("a.txt"), head: n }],
    ["read_text_file", { path: at("a.txt"), tail: n }],
    ["read_text_file", { path: at("no-newline"), head: n }],
    ["read_text_file", { path: at("no-newline"), tail: n }],
    ["read_text_file", { path: at("crlf.txt"), tail: n }],
    ["read_text_file", { path: at("empty.txt"), tail: n }],
    ["read_text_file", { path: at("big.txt"), tail: n * 100 }],
    ["read_text_file", { path: at("big.txt"), head: n * 100 }],
  ]),
  ["read_media_file", { path: at("picture.png") }],
  ["read_media_file", { path: at("sound.mp3") }],
  ["read_media_file", { path: at("bytes.bin") }],
  ["read_multiple_files", { paths: [at("a.txt"), at("sub/b.txt")] }],
  ["list_directory", { path: directory }, sorted],
  ["list_directory", { path: at("empty") }],
  ["list_directory_with_sizes", { path: at("sub") }],
  ["list_directory_with_sizes", { path: directory, sortBy: "size" }, sorted],
  ["directory_tree", { path: directory }, trees],
  ["directory_tree", { path: directory }, pretty],
  ["directory_tree", { path: at("empty") }],
  ["directory_tree", { path: directory, excludePatterns: ["node_modules"] }, trees],
  ["directory_tree", { path: directory, excludePatterns: ["*.txt", "**/*.txt"] }, trees],
  ["directory_tree", { path: directory, excludePatterns: ["sub/**"] }, trees],
  ["search_files", { path: directory, pattern: "*.txt" }, sorted],
  ["search_files", { path: directory, pattern: "**/*.txt" }, sorted],
  ["search_files", { path: directory, pattern: "**/*.txt", excludePatterns: ["sub/**"] }, sorted],
  ["search_files", { path: directory, pattern: "**/{b,c}.txt" }, sorted],
  ["search_files", { path: directory, pattern: "sub" }, sorted],
  ["search_files", { path: directory, pattern: "nothing" }],
  ["get_file_info", { path: at("a.txt") }, info],
  ["get_file_info", { path: at("sub") }, (result) => ({ said: info(result).said.replace(/^size: \d+$/m, "size") })],
  ["list_allowed_directories", {}],
];
const mistakes = [
  ["read_text_file", { path: at("none") }],
  ["read_text_file", { path: directory }],
  ["read_text_file", { path: "/etc/passwd" }],
  ["read_text_file", { path: at("../../etc/passwd") }],
  ["read_text_file", { path: at("a.txt"), head: 1, tail: 1 }],
  ["edit_file", { path: at("a.txt"), edits: [{ oldText: "nothing like it", newText: "" }] }],
  ["move_file", { source: at("a.txt"), destination: at("sub/b.txt") }],
  ["move_file", { source: at("none"), destination: at("x") }],
  ["write_file", { path: "/etc/x", content: "" }],
  ["create_directory", { path: at("a.txt") }],
  ["list_directory", { path: at("a.txt") }],
];
// name, arguments, which file to look at afterwards
const changes = [
  ["write_file", { path: at("new.txt"), content: "new ü\n" }, "new.txt"],
  ["write_file", { path: at("a.txt"), content: "short" }, "a.txt"],
  ["create_directory", { path: at("p/q/r") }],
  ["create_directory", { path: at("p/q/r") }],
  ["move_file", { source: at("sub/b.txt"), destination: at("p/moved.txt") }, "p/moved.txt"],
  ["edit_file", { path: at("big.txt"), edits: [{ oldText: "line 1500\n", newText: "changed\n" }], dryRun: true }, "big.txt"],
  ["edit_file", { path: at("twice.txt"), edits: [{ oldText: "same", newText: "changed" }] }, "twice.txt"],
  ["edit_file", { path: at("no-newline"), edits: [{ oldText: "two", newText: "2" }, { oldText: "one", newText: "1" }] }, "no-newline"],
  ["edit_file", { path: at("ticks.md"), edits: [{ oldText: "x", newText: "y" }] }, "ticks.md"],
  ["edit_file", { path: at("indented.c"), edits: [{ oldText: "if (x)\n    return 1;", newText: "if (y)\n    return 2;" }] }, "indented.c"],
  ["edit_file", { path: at("twice.txt"), edits: [] }, "twice.txt"],
];

const show = (name, args) => `${name} ${JSON.stringify(args).replaceAll(directory, "").replaceAll(other, "OTHER").slice(0, 90)}`;
const answer = async (client, name, args) => {
  const { said, content, structuredContent, isError } = await call(client, name, args);
  return { said, content, structuredContent, isError: !!isError };
};

await main(async () => {
  make();
  const theirs = await start([], { command: process.execPath, args: [server_filesystem, directory, other] });
  const ours = await start(["--filesystem-names", directory, other]);
  const [names, known] = [await ours.listTools(), await theirs.listTools()];
  for (const tool of known.tools) {
    const mine = names.tools.find(({ name }) => name === tool.name);
    const shape = (schema) => JSON.parse(JSON.stringify(schema ?? null, (key, value) =>
      key === "description" || key === "$schema" ? undefined : value));
    ok(mine, `${tool.name} is offered`);
    is(`${tool.name} takes the same arguments`, shape(mine?.inputSchema), shape(tool.inputSchema));
    is(`${tool.name} answers in the same form`, shape(mine?.outputSchema), shape(tool.outputSchema));
  }
  ok(names.tools.some(({ name }) => name === "bash"), "what that server has no word for is offered as well");
  is("no name is there twice", new Set(names.tools.map(({ name }) => name)).size, names.tools.length);

  for (const [name, args, compare = same] of readings) {
    const expected = await answer(theirs, name, args);
    is(show(name, args), compare(await answer(ours, name, args)), compare(expected));
  }
  for (const [name, args] of mistakes) {
    const expected = await answer(theirs, name, args);
    const got = await answer(ours, name, args);
    ok(expected.isError && got.isError && got.said.length > 10, `refused by both: ${show(name, args)}`, { expected, got });
  }
  is("a missing file does not stop the others",
     (await answer(ours, "read_multiple_files", { paths: [at("none"), at("sub/b.txt")] })).said.replace(/Error - .*/, "Error - ..."),
     `${at("none")}: Error - ...\n---\n${at("sub/b.txt")}:\nb\n\n`);

  // Each makes the same changes to the same tree.
  const results = [];
  for (const client of [theirs, ours]) {
    make();
    const done = [];
    for (const [name, args, file] of changes)
      done.push({ ...await answer(client, name, args), file: file && readFileSync(at(file), "utf8") });
    results.push(done);
  }
  changes.forEach(([name, args], i) => is(show(name, args), results[1][i], results[0][i]));

  // Where coop is better on purpose.
  make();
  await answer(ours, "edit_file", { path: at("crlf.txt"), edits: [{ oldText: "two\nthree", newText: "2\n3" }] });
  is("lines that end with CR LF keep that", readFileSync(at("crlf.txt"), "utf8"), "one\r\n2\r\n3\r\n");
  const bash = await call(ours, "bash", { command: `cat ${at("a.txt")} ${other}/o.txt; pwd` });
  is("commands know the same paths", bash.said, `one\ntwo\nthree\nfour\nfive\no\n${directory}\n`);
  await theirs.close();
  await ours.close();
});
