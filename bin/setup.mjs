// Entry point of every script in package.json: `node bin/setup.mjs COMMAND`. Runs on any Node >= 20 without dependencies, installs
// what the command needs, and starts it with the pinned Node.
import { main } from './setup/main.mjs'

await main(process.argv.slice(2))
