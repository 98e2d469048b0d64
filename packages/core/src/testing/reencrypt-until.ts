// `node reencrypt-until.ts URL N` re-encrypts credentials like a worker and kills itself after decrypting N records. Prints "done"
// when there are fewer.
import { openVault, reencryptCredentials } from '../credentials/index.ts'
import { connectDb } from '../kernel/db/client.ts'
import { roleUrls } from '../kernel/db/role-urls.ts'
import { connectTenants } from '../kernel/db/tenant-db.ts'
import { createLog } from '../kernel/log.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from './master-password.ts'

const [url, limit] = process.argv.slice(2) as [string, string]
const urls = roleUrls({ DATABASE_URL: url })
const { db } = connectDb(urls.system, { max: 2, name: 'muster-test-reencrypt' })
const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, fastDeriveKey)
let decrypted = 0
const log = createLog('reencrypt', 'silent')
const queue = { send: async () => {}, work: async () => {}, pause() {}, resume: async () => {}, close: async () => {} }
await reencryptCredentials({
  db,
  tenantDb: connectTenants(urls.app).tenantDb,
  queue,
  log,
  notify() {},
  actor: { kind: 'worker', id: 'w', name: 'w' },
  vault: {
    ...vault,
    async open(...args) {
      const text = await vault.open(...args)
      if (++decrypted >= Number(limit)) process.kill(process.pid, 'SIGKILL')
      return text
    },
  },
})
process.stdout.write('done\n')
process.exit(0)
