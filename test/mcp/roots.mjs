// roots.mjs WORKSPACE OUTSIDE [URL TOKEN] - the client's roots narrow the workspace
import { start, connect, call, main, ok, is, like, types, StreamableHTTPClientTransport } from "./client.mjs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [workspace, outside, url, token] = process.argv.slice(2);
const how = url ? "http" : "stdio";
const root = (path) => ({ uri: pathToFileURL(path).href, name: "root" });

await main(async () => {
  let roots = [root(join(workspace, "one"))];
  const logged = [];
  const changed = [];
  const how_to = {
    capabilities: { roots: { listChanged: true } },
    prepare: (c) => {
      c.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots }));
      c.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => { logged.push(params); });
      for (const schema of [types.ToolListChangedNotificationSchema, types.ResourceListChangedNotificationSchema])
        c.setNotificationHandler(schema, ({ method }) => { changed.push(method); });
    },
  };
  const client = !url ? await start(["-w", workspace], how_to)
    : await connect(new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { Authorization: `Bearer ${token}` } },
      }), how_to);
  // Over HTTP the question waits for the client's stream.
  if (url) while (logged.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const reach = async () => {
    const out = [];
    for (const name of ["one", "two"]) out.push(!(await call(client, "read_file", { path: `${name}/f` })).refused);
    return out;
  };
  is(`${how}: only what is in the root is reached, by the first call already`, await reach(), [true, false]);
  const bash = await call(client, "bash", { command: "cat /work/one/f; cat /work/two/f", directory: "/work/one" });
  ok(/^one$/m.test(bash.said) && !/^two$/m.test(bash.said), `${how}: and by commands`, bash);
  const listed = (await client.listResources()).resources.map(({ uri }) => uri);
  is(`${how}: and as resources`, listed, ["file:///work/one/f"]);

  const change = async (now) => {
    roots = now;
    const seen = logged.length;
    await client.sendRootsListChanged();
    while (logged.length === seen) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await change([root(join(workspace, "two"))]);
  is(`${how}: roots can change`, await reach(), [false, true]);
  await change([root(join(workspace, "one")), root(join(workspace, "two"))]);
  is(`${how}: there can be several`, await reach(), [true, true]);
  const both = await call(client, "bash", { command: "cat one/f two/f; ls /work" });
  is(`${how}: by commands too, and nothing else`, both.said.split("\n").slice(0, 4), ["one", "two", "one", "two"]);
  ok(changed.includes("notifications/resources/list_changed"), `${how}: the client is told that others are there`, changed);
  await change([root(outside), root(join(workspace, "one"))]);
  is(`${how}: a root outside widens nothing`, await reach(), [true, false]);
  like(`${how}: and the client is told`, JSON.stringify(logged), /outside the workspace/);
  await change([]);
  is(`${how}: without roots all of the workspace is there`, await reach(), [true, true]);
  await change([root(outside)]);
  is(`${how}: a root outside alone narrows nothing`, await reach(), [true, true]);
  ok((await call(client, "read_file", { path: join(outside, "f") })).refused, `${how}: and opens nothing`);
  await client.close();
});
