// Starts gawee-lsp for MLIR text; all else is in the server.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("gawee");
  const server = { command: settings.get("server"), args: settings.get("arguments") };
  client = new LanguageClient("gawee", "gawee", server, {
    documentSelector: [{ language: "mlir" }],
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
