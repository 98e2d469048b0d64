import path from 'node:path'
import { python, root, tool, toolEnv } from './paths.mjs'
import { Aborted, ensureStep, exec, fingerprint, progress, step } from './step.mjs'

/** Python packages that tests use as third parties. */
const PACKAGES = {
  moto: { file: 'moto/server.py', variable: 'MOTO', purpose: 'an S3 server' },
  gql: { file: 'gql/__init__.py', variable: 'GQL', purpose: "Python's GraphQL client" },
  'sushy-tools': { file: 'sushy_tools/emulator/main.py', variable: 'SUSHY_TOOLS', purpose: 'a Redfish emulator' },
  'podman-compose': { file: 'podman_compose.py', variable: 'PODMAN_COMPOSE', purpose: 'podman-compose', onlyLong: true },
  salt: { file: 'salt/scripts.py', variable: 'SALT', purpose: 'a Salt master', onlyLong: true, source: 'salt.source.txt' },
}

/**
 * Installs them from PyPI, each into a folder of its own. Tests that need one are skipped when PyPI is unreachable.
 * @param {boolean} long whether the long tests run
 * @returns {Promise<Record<string, string>>} the folders by variable name, and TEST_PYTHON, the Python that runs them
 */
export async function testPackages(long) {
  const interpreter = path.join(python, 'bin/python')
  const pip = [interpreter, '-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', '--retries=2']
  const found = { TEST_PYTHON: interpreter }
  const installOne = async ([name, { file, variable, purpose, onlyLong, source }]) => {
    if (onlyLong && !long) return
    const requirements = path.join(root, `bin/toolchain/${name}.txt`)
    const folder = path.join(tool, name)
    const files = source ? [requirements, path.join(root, `bin/toolchain/${source}`)] : [requirements]
    const into = ['--no-deps', '--require-hashes', '--upgrade', '--target', folder]
    const install = async () => {
      await exec([...pip, ...into, '--only-binary=:all:', '-r', files[0]])
      // Built with the packages of the first file only.
      if (source) await exec([...pip, ...into, '--no-build-isolation', '-r', files[1]], { env: toolEnv({ PYTHONPATH: folder }) })
    }
    try {
      await ensureStep({ name, key: fingerprint(files), outputs: [path.join(folder, file)] }, () =>
        step(`Install ${name} for tests`, install),
      )
      found[variable] = folder
    } catch (error) {
      if (error instanceof Aborted) throw error
      progress.out.write(`  Tests that need ${purpose} are skipped: cannot install ${name}.\n`)
    }
  }
  await Promise.all(Object.entries(PACKAGES).map(installOne))
  return found
}
