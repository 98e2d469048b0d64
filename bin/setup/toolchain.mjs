import fs from 'node:fs'
import path from 'node:path'
import { node, packages, pnpm, root, tool, toolEnv } from './paths.mjs'
import { ensureStep, exec, fingerprint, StepFailed, step } from './step.mjs'

const source = path.join(root, 'bin/toolchain')

/**
 * Installs the pinned Node and pnpm into .tool/, from npm packages with checksums in the committed lockfile.
 * npm packages, because many machines reach only an npm registry or a mirror of one.
 */
export async function toolchain() {
  if (!packages) {
    throw new StepFailed(`Muster does not run on ${process.platform}-${process.arch}`, {
      hint: 'Use Linux (glibc) or macOS on x64 or arm64.',
    })
  }
  const files = ['package.json', 'package-lock.json'].map((name) => path.join(source, name))
  const versions = JSON.parse(fs.readFileSync(files[0], 'utf8')).optionalDependencies
  await ensureStep({ name: 'toolchain', key: fingerprint(files, [packages.node]), outputs: [node, pnpm] }, () =>
    step(`Fetch Node ${versions[packages.node]} and pnpm ${versions[packages.pnpm]}`, async () => {
      const target = path.join(tool, 'toolchain')
      fs.mkdirSync(target, { recursive: true })
      for (const file of files) fs.copyFileSync(file, path.join(target, path.basename(file)))
      await exec([...npm(), 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: target,
        env: { ...toolEnv(), PATH: process.env.PATH },
        hint: 'Check that the npm registry is reachable: `npm ping`. `npm config get registry` prints its address.',
      })
      if (!fs.existsSync(node) || !fs.existsSync(pnpm)) {
        throw new StepFailed(`npm installed no Node for ${packages.node}`, {
          hint: 'Muster requires glibc. On Alpine Linux use docker compose.',
        })
      }
      fs.chmodSync(pnpm, 0o755)
    }),
  )
}

/** Command of the npm that started this process, or of the one on PATH. */
function npm() {
  const script = process.env.npm_execpath
  return script?.endsWith('npm-cli.js') && fs.existsSync(script) ? [process.execPath, script] : ['npm']
}

/** Workspace packages that the product consists of. */
const PRODUCT = ['muster', ...['standalone', 'api', 'worker', 'console', 'cli', 'lab'].map((name) => `@muster/${name}...`)]

/**
 * Installs node_modules from pnpm-lock.yaml: everything, or only what the product needs, which is about half of it.
 * @param {'all' | 'product'} scope
 */
export async function dependencies(scope) {
  const manifests = ['apps', 'packages'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder))
      .sort()
      .map((name) => path.join(root, folder, name, 'package.json')),
  )
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'].map((name) => path.join(root, name)).concat(manifests)
  const outputs = [path.join(root, 'node_modules/.modules.yaml')]
  const all = fingerprint(files, [process.platform, process.arch])
  const product = fingerprint(files, [process.platform, process.arch, 'product'])
  const keys = scope === 'product' ? { key: product, acceptedKeys: [all] } : { key: all }
  const selection = scope === 'product' ? ['--prod', ...PRODUCT.map((name) => `--filter=${name}`)] : []
  await ensureStep({ name: 'dependencies', ...keys, outputs }, () =>
    step('Install dependencies', () =>
      exec([pnpm, 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', ...selection], {
        env: toolEnv({ CI: '1' }),
        hint: 'If package.json and pnpm-lock.yaml disagree, run `.tool/toolchain/node_modules/@pnpm/*/pnpm install`.',
      }),
    ),
  )
}
