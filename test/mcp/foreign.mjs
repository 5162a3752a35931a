// foreign.mjs WORKSPACE - a server of others in a box: coop run leaves its input and output alone
import { start, call, main, ok, is, server_filesystem } from "./client.mjs";
import { writeFileSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";

const [workspace] = process.argv.slice(2);
const inside = "/opt/mcp-node"; // its own path may lie where the box has something else

await main(async () => {
  writeFileSync(join(workspace, "a.txt"), "hello\n");
  const client = await start([], {
    args: ["run", "-w", workspace, "--ro", `${process.env.MCP_NODE}:${inside}`, "--", process.execPath,
      server_filesystem.replace(process.env.MCP_NODE, inside), "/"],
  });
  is("its tools are listed through the box", (await client.listTools()).tools.length, 14);
  is("it reads what the box shows", (await call(client, "read_text_file", { path: "/work/a.txt" })).said, "hello\n");
  await call(client, "write_file", { path: "/work/b.txt", content: "x".repeat(300000) });
  is("it writes there, large messages too", readFileSync(join(workspace, "b.txt"), "utf8").length, 300000);
  ok((await call(client, "read_text_file", { path: "/etc/shadow" })).refused, "it does not see what is outside");
  const many = await Promise.all(Array.from({ length: 50 }, () => call(client, "read_text_file", { path: "/work/a.txt" })));
  ok(many.every(({ said }) => said === "hello\n"), "many messages go both ways");
  await client.close();
  ok(!existsSync(join(workspace, "none")), "it ends with its client");
});
