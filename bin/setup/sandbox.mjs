import fs from 'node:fs'
import path from 'node:path'
import { bubblewrap, tool } from './paths.mjs'
import { Aborted, ensureStep, exec, progress, StepFailed, step } from './step.mjs'
import { install, PROGRAMS, which } from './system-packages.mjs'

/**
 * Installs bubblewrap, with which workers isolate playbooks: from system packages as root, otherwise Debian's package unpacked into
 * .tool. Without it Muster starts too, and workers reject playbooks from bundles and git repositories.
 */
export async function sandbox() {
  if (process.platform !== 'linux' || which('bwrap')) return
  const isRoot = process.getuid?.() === 0
  const installer = which('apt-get') ? 'apt' : which('dnf') ? 'dnf' : undefined
  try {
    if (isRoot && installer) await step('Install bubblewrap', () => install(installer, PROGRAMS.bwrap[installer]))
    else if (installer === 'apt' && which('dpkg-deb')) await unpack()
    else throw new StepFailed('only root can install it here')
  } catch (error) {
    if (error instanceof Aborted) throw error
    const hint = installer
      ? `${isRoot ? '' : 'sudo '}${installer === 'apt' ? 'apt-get' : 'dnf'} install bubblewrap`
      : 'install bubblewrap'
    progress.out.write(`  bubblewrap is missing (${error.message}). Next step: ${hint}, then start again.\n`)
  }
}

/** Needs no privileges: its libraries are part of every Debian and Ubuntu. */
async function unpack() {
  const outputs = [path.join(bubblewrap, 'usr/bin/bwrap')]
  await ensureStep({ name: 'bubblewrap', key: '1', outputs }, () =>
    step('Unpack bubblewrap', async () => {
      const folder = path.join(tool, 'cache/bubblewrap')
      fs.rmSync(folder, { recursive: true, force: true })
      fs.mkdirSync(folder, { recursive: true })
      await exec(['apt-get', 'download', 'bubblewrap'], { cwd: folder })
      const [file] = fs.readdirSync(folder).filter((name) => name.endsWith('.deb'))
      if (!file) throw new StepFailed('apt-get downloaded no package')
      await exec(['dpkg-deb', '-x', path.join(folder, file), bubblewrap])
      await exec([outputs[0], '--version'])
    }),
  )
}
