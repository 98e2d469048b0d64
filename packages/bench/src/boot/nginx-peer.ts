import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pickPort } from '@muster/standalone'

/** Starts Debian's nginx (`npm run bench` installs it) as a file server with its default number of workers. Its files are in `root`. */
export async function startNginx(dir: string): Promise<{ url: string; root: string; stop(): Promise<void> }> {
  const root = join(dir, 'files')
  mkdirSync(root, { recursive: true })
  const port = await pickPort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(dir, name)};`)
  writeFileSync(
    join(dir, 'nginx.conf'),
    `worker_processes auto;
pid ${join(dir, 'nginx.pid')};
error_log ${join(dir, 'error.log')};
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  ${temporary.join(' ')}
  server { listen 127.0.0.1:${port} backlog=4096; root ${root}; default_type text/plain; }
}
`,
  )
  // Started by root, nginx would run its workers as another user, which cannot read the files.
  const child = spawn('nginx', ['-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log'), '-g', 'daemon off; user root;'], {
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  for (let tries = 0; !(await fetch(url).then(Boolean, () => false)); tries++) {
    if (tries > 100 || child.exitCode !== null) {
      await stop()
      throw new Error('nginx did not start')
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { url, root, stop }
}
