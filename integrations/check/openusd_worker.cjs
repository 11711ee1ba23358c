// A thread of OpenUSD in Node: its script is made for the threads of browsers, which know where they are.
const {workerData} = require('node:worker_threads');
globalThis.location = {pathname: __filename, href: `file://${__filename}`};
globalThis.XMLHttpRequest = class {
    open() {}
    send() {}
};
require(workerData);
