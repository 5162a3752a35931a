// client.mjs - what the drivers of mcp.t share: the real SDK, and lines that mcp.t counts
//
//   MCP_NODE   directory whose node_modules hold @modelcontextprotocol/sdk
//   COOP       the program under test
//
// "ok - ..." and "not ok - ..." are results, "# ..." are remarks; the last line is "done".
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const sdk = (path) =>
  import(pathToFileURL(join(process.env.MCP_NODE, "node_modules/@modelcontextprotocol/sdk/dist/esm", path)).href);

export const { Client } = await sdk("client/index.js");
export const { StdioClientTransport } = await sdk("client/stdio.js");
export const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
export const types = await sdk("types.js");

export const server_filesystem = join(
  process.env.MCP_NODE, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

const remark = (text) => console.log(String(text).split("\n").slice(0, 20).map((line) => "# " + line.slice(0, 1000)).join("\n"));

export function ok(condition, what, detail) {
  console.log(`${condition ? "ok" : "not ok"} - ${what}`);
  if (!condition && detail !== undefined) remark(typeof detail === "string" ? detail : JSON.stringify(detail));
  return condition;
}
export const is = (what, got, expected) =>
  ok(JSON.stringify(got) === JSON.stringify(expected), what,
     `got:      ${JSON.stringify(got)}\nexpected: ${JSON.stringify(expected)}`);
export const like = (what, got, pattern) => ok(pattern.test(got), what, `got: ${got}\ndoes not match ${pattern}`);

export async function fails(what, promise, pattern) {
  try {
    ok(false, what, await promise);
  } catch (error) {
    like(what, String(error), pattern);
  }
}

// A client that is connected to `coop mcp` with these options; capabilities and handlers as the SDK has them.
export async function start(options, { capabilities = {}, prepare = () => {}, command, args } = {}) {
  const transport = new StdioClientTransport({
    command: command ?? process.env.COOP,
    args: args ?? ["mcp", "--quiet", ...options],
    env: process.env,
  });
  return connect(transport, { capabilities, prepare });
}

export async function connect(transport, { capabilities = {}, prepare = () => {} } = {}) {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  prepare(client);
  await client.connect(transport);
  return client;
}

export const text = (result) => result.content.map((item) => item.text ?? "").join("");

// The result of a tool; what it refuses comes back as { refused: words }.
export async function call(client, name, args = {}, options = {}) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  return { ...result, refused: result.isError ? text(result) : undefined, said: text(result) };
}

export async function main(run) {
  try {
    await run();
    console.log("done");
  } catch (error) {
    remark(error?.stack ?? error);
    process.exitCode = 1;
  }
}
