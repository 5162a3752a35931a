// day.mjs WORKSPACE CONFIG LEVEL IDENTITY - a day's coding in a repository, as far as the level lets it
import { start, call, main, ok, is, like } from "./client.mjs";
import { readFileSync, existsSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const [workspace, config, level, identity] = process.argv.slice(2);
const reads = level !== "public";
const writes = ["owner", "full", "inner", "nobody"].includes(level);

const reading = ["read_file", "list_dir", "glob", "grep", "stat"];
const writing = ["write_file", "edit_file", "move", "remove", "make_dir", "symlink",
                 "bash", "git_status", "git_diff", "git_stage", "git_commit", "git_log"];

// A step either works, or is refused in words that a model can act on.
async function step(client, may, what, name, args, pattern) {
  const result = await call(client, name, args);
  if (may) {
    ok(!result.refused && pattern.test(result.said), `${level}: ${what}`, result);
    return result.said;
  }
  ok(result.refused && /refused|may not/.test(result.refused), `${level}: may not ${what}`, result);
  ok(reads ? /read_file/.test(result.refused) : /no tool|owner/.test(result.refused),
     `${level}: and is told what it may do instead`, result.refused);
  return "";
}

await main(async () => {
  const options = ["-w", workspace, "--config", config];
  const client = await start(identity ? [...options, "--as", identity] : options);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  is(`${level}: is offered what it may use`, [...reading, ...writing].filter((name) => names.includes(name)),
     [...(reads ? reading : []), ...(writes ? writing : [])]);

  // Explore.
  await step(client, reads, "look around", "list_dir", {}, /Makefile/);
  await step(client, reads, "find the sources", "glob", { pattern: "src/**/*.c" }, /add\.c/);
  await step(client, reads, "find the mistake", "grep", { pattern: "a\\s*-\\s*b", path: "src" }, /add\.c/);
  await step(client, reads, "read it", "read_file", { path: "src/add.c" }, /return a - b/);

  // Build and test: it fails.
  const before = await call(client, "bash", { command: "make test" });
  if (writes) like(`${level}: the test fails at first`, before.said, /FAIL/);

  // Edit.
  await step(client, writes, "mend it", "edit_file",
             { path: "src/add.c", edits: [{ old_text: "a - b", new_text: "a + b" }] }, /^\+.*a \+ b/m);
  await step(client, writes, "write a note", "write_file", { path: "NOTES.md", content: "# Notes\n" }, /^/);

  // Build, test.
  await step(client, writes, "build and test", "bash", { command: "make test 2>&1", timeout_seconds: 60 }, /PASS/);

  // Commit.
  await step(client, writes, "see what changed", "git_status", {}, /src\/add\.c/);
  await step(client, writes, "see how", "git_diff", {}, /^\+.*a \+ b/m);
  await step(client, writes, "stage", "git_stage", { paths: ["src/add.c", "NOTES.md"] }, /^/);
  await step(client, writes, "commit", "git_commit", { message: "add: add instead of subtracting" }, /add instead/);
  await step(client, writes, "see the commit", "git_log", { limit: 1 }, /add instead of subtracting/);

  const log = execFileSync("git", ["-C", workspace, "log", "--format=%s"], { encoding: "utf8" });
  is(`${level}: the repository has ${writes ? "the" : "no new"} commit`, log.split("\n")[0],
     writes ? "add: add instead of subtracting" : "begin");
  is(`${level}: the source is ${writes ? "mended" : "as it was"}`,
     /a \+ b/.test(readFileSync(join(workspace, "src/add.c"), "utf8")), writes);

  // What nobody's agent may do in a box.
  if (writes && level !== "owner") {
    const hook = await call(client, "bash", { command: "echo evil > .git/hooks/pre-commit" });
    ok(!existsSync(join(workspace, ".git/hooks/pre-commit")), `${level}: cannot leave a hook`, hook);
    like(`${level}: and is told why`, hook.said, /refused|denied|protected/i);
    like(`${level}: has no network`, (await call(client, "bash", { command: "exec 3<>/dev/tcp/192.0.2.1/80" })).said,
         /unreachable|refused|denied|No route/i);
  }
  await client.close();
});
