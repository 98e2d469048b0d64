// `node reseal-until.ts URL N` seals anew as a worker does, and is killed when it has opened N records; it says "done" when there
// were fewer.
import { openVault, resealCredentials } from '../credentials/index.ts'
import { connectDb } from '../db/client.ts'
import { createLog } from '../log.ts'
import { quickDerive, TEST_MASTER_PASSWORD } from './master-password.ts'

const [url, most] = process.argv.slice(2) as [string, string]
const { db } = connectDb(url, { max: 2, name: 'muster-test-reseal' })
const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, quickDerive)
let opened = 0
const log = createLog('reseal', 'silent')
const queue = { send: async () => {}, work: async () => {}, pause() {}, resume: async () => {}, close: async () => {} }
await resealCredentials({
  db,
  queue,
  log,
  notify() {},
  actor: { kind: 'worker', id: 'w', name: 'w' },
  vault: {
    ...vault,
    async open(...args) {
      const text = await vault.open(...args)
      if (++opened >= Number(most)) process.kill(process.pid, 'SIGKILL')
      return text
    },
  },
})
process.stdout.write('done\n')
process.exit(0)
