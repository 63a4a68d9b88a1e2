// Whether there is a browser to test with: `.ci/run` asks before it runs the tests.

import { start, stop } from "./pages.mjs";

await start();
await stop();
