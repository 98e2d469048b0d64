import path from 'node:path'
import { python, root, tool } from './paths.mjs'
import { Ended, exec, fingerprint, once, progress, step } from './step.mjs'

const requirements = path.join(root, 'bin/toolchain/moto.txt')
const folder = path.join(tool, 'moto')

/**
 * moto, an S3 server for tests, from PyPI, by the pip of our Ansible. Without it (no PyPI) the tests that need it are left out.
 * @returns {Promise<Record<string, string>>} MOTO and MOTO_PYTHON: the folder of its modules, and the Python that runs them
 */
export async function moto() {
  const interpreter = path.join(python, 'bin/python')
  const pip = [interpreter, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries=2']
  const what = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--upgrade', '--target', folder, '-r', requirements]
  try {
    await once({ name: 'moto', key: fingerprint([requirements]), outputs: [path.join(folder, 'moto/server.py')] }, () =>
      step('Install moto for tests', () => exec([...pip, ...what])),
    )
    return { MOTO: folder, MOTO_PYTHON: interpreter }
  } catch (error) {
    if (error instanceof Ended) throw error
    progress.out.write('  Tests against a real S3 server are left out: moto cannot be installed here.\n')
    return {}
  }
}
