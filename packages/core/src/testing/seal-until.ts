// `node seal-until.ts URL N` seals the audit log like a worker and kills itself inside its Nth transaction, after it has written the
// hashes and before the checkpoint. Prints "done" when there are fewer.
import { sealAuditEntries } from '../audit/index.ts'
import { openVault } from '../credentials/index.ts'
import { connectDb } from '../kernel/db/client.ts'
import { roleUrls } from '../kernel/db/role-urls.ts'
import { connectTenants } from '../kernel/db/tenant-db.ts'
import { createLog } from '../kernel/log.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from './master-password.ts'

const [url, limit] = process.argv.slice(2) as [string, string]
const urls = roleUrls({ DATABASE_URL: url })
const { db } = connectDb(urls.system, { max: 2, name: 'muster-test-seal' })
const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, fastDeriveKey)
let transactions = 0
const queue = { send: async () => {}, work: async () => {}, pause() {}, resume: async () => {}, close: async () => {} }
await sealAuditEntries({
  db,
  tenantDb: connectTenants(urls.app).tenantDb,
  queue,
  log: createLog('seal', 'silent'),
  notify() {},
  actor: { kind: 'worker', id: 'w', name: 'w' },
  vault: {
    ...vault,
    derive(...args) {
      if (++transactions >= Number(limit)) process.kill(process.pid, 'SIGKILL')
      return vault.derive(...args)
    },
  },
})
process.stdout.write('done\n')
process.exit(0)
