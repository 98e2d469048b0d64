import fs from 'node:fs'
import path from 'node:path'
import { tool } from './paths.mjs'
import { Aborted, exec } from './step.mjs'

/**
 * Downloads Debian packages as root, even if they are installed, and those of their dependencies that are not. Installs nothing.
 * @param name of a folder below the cache; its earlier content is removed
 * @returns the folder with the .deb files
 */
export async function downloadDebs(name, packages) {
  const folder = path.join(tool, 'cache', name)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(path.join(folder, 'partial'), { recursive: true })
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const download = ['install', '--reinstall', '--download-only', '--yes', '--quiet', '--no-install-recommends', ...packages]
  const options = ['DPkg::Lock::Timeout=300', `Dir::Cache::archives=${folder}`, 'APT::Sandbox::User=root']
  const apt = ['apt-get', ...options.flatMap((option) => ['-o', option])]
  const hint = 'Check that the package mirror is reachable.'
  try {
    await exec([...apt, ...download], { env })
  } catch (error) {
    if (error instanceof Aborted) throw error
    await exec([...apt, 'update', '--quiet'], { env, hint })
    await exec([...apt, ...download], { env, hint })
  }
  for (const left of ['lock', 'partial']) fs.rmSync(path.join(folder, left), { recursive: true, force: true })
  return folder
}
