// The one way in: `node bin/setup.mjs VERB`, which every script of package.json calls. Runs on the machine's own Node >= 20 with
// nothing installed, brings up what the verb needs, each step once, and hands over to the pinned Node.
import { main } from './setup/main.mjs'

await main(process.argv.slice(2))
