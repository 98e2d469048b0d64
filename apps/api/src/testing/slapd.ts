import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { vi } from 'vitest'

/** Debian and Fedora. */
const SCHEMAS = ['/etc/ldap/schema', '/etc/openldap/schema'].find((folder) => existsSync(folder))
const MODULES = ['/usr/lib/ldap', '/usr/lib64/openldap'].find((folder) => existsSync(folder))
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`

export const SERVICE = { dn: 'cn=muster,dc=site,dc=test', password: 'service password' }

/** Starts OpenLDAP's slapd with entries in LDIF below dc=site,dc=test. Its certificate is for 127.0.0.1. */
export async function startSlapd(ldif: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-slapd-'))
  const file = (name: string) => path.join(folder, name)
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ldap.test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem'
  execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
  mkdirSync(file('data'))
  // `allow bind_anon_dn`: a bind with a name and without a password succeeds, as in many directories.
  writeFileSync(
    file('slapd.conf'),
    `${['core', 'cosine', 'inetorgperson'].map((name) => `include ${SCHEMAS}/${name}.schema`).join('\n')}
modulepath ${MODULES}
moduleload back_mdb
allow bind_anon_dn
TLSCertificateFile ${file('cert.pem')}
TLSCertificateKeyFile ${file('key.pem')}
security simple_bind=128
database mdb
suffix "dc=site,dc=test"
rootdn "${SERVICE.dn}"
rootpw "${SERVICE.password}"
directory ${file('data')}
`,
    { mode: 0o600 },
  )
  writeFileSync(file('entries.ldif'), ldif)
  execFileSync('slapadd', ['-q', '-f', file('slapd.conf'), '-l', file('entries.ldif')], { env: { ...process.env, PATH } })
  const [plain, secure] = [await freePort(), await freePort()]
  const child = spawn(
    'slapd',
    ['-d', '0', '-f', file('slapd.conf'), '-h', `ldap://127.0.0.1:${plain} ldaps://127.0.0.1:${secure}`],
    { env: { ...process.env, PATH }, stdio: 'ignore' },
  )
  const exited = once(child, 'exit')
  await vi.waitFor(() => answers(secure), { timeout: 20_000 })
  writeFileSync(file('password'), `${SERVICE.password}\n`)
  return {
    plain: `ldap://127.0.0.1:${plain}`,
    secure: `ldaps://127.0.0.1:${secure}`,
    ca: file('cert.pem'),
    passwordFile: file('password'),
    async close() {
      child.kill()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answers(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}
