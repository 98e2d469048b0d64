import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { bunPath, hostTarget, TARGETS, type Target } from '../../agent/packaging/compile.ts'

const cli = path.dirname(import.meta.dirname)
const root = path.join(cli, '../..')
const manifest = JSON.parse(fs.readFileSync(path.join(cli, 'package.json'), 'utf8'))

/** Builds the CLI as one executable file without dependencies. */
export async function buildBundle(outfile: string): Promise<void> {
  await build({
    entryPoints: [path.join(cli, 'src/main.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    define: { 'import.meta.main': 'true' },
    // Bundled CommonJS modules call require for Node's own modules.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    legalComments: 'eof',
    logLevel: 'warning',
  })
  fs.chmodSync(outfile, 0o755)
}

/** Builds the npm package, which is the bundle. @returns path of the tarball */
export async function buildPackage(folder: string): Promise<string> {
  const source = path.join(folder, 'npm')
  fs.rmSync(source, { recursive: true, force: true })
  fs.mkdirSync(source, { recursive: true })
  await buildBundle(path.join(source, 'muster.mjs'))
  const { version, license } = manifest
  const description = 'Command-line client of Muster, the control plane for heterogeneous clusters'
  const published = {
    ...{ name: '@muster/cli', version, description, license, type: 'module' },
    bin: { muster: 'muster.mjs' },
    engines: { node: '>=22' },
    files: ['muster.mjs', 'LICENSE', 'README.md'],
  }
  fs.writeFileSync(path.join(source, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(source, 'LICENSE'))
  fs.copyFileSync(path.join(root, 'docs/cli.md'), path.join(source, 'README.md'))
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename }] = JSON.parse(execFileSync('npm', pack, { cwd: source, encoding: 'utf8' }))
  return path.join(folder, path.basename(filename))
}

/** Compiles a single executable with Bun. It ignores .env and bunfig.toml in its working directory. @returns its path */
export function buildBinary(folder: string, target: Target): string {
  if (!hostTarget) throw new Error(`Bun is not available for ${process.platform}-${process.arch}. Build the binary on Linux.`)
  const file = path.join(folder, `muster-${target}`)
  fs.mkdirSync(folder, { recursive: true })
  const flags = ['--compile', '--minify', '--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig']
  const runtime = ['--target', target.replace('linux', 'bun-linux'), '--compile-executable-path', bunPath(target)]
  execFileSync(bunPath(hostTarget), ['build', ...flags, ...runtime, '--outfile', file, path.join(cli, 'src/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return file
}

// `npm run build:cli [-- TARGET…]`: the npm package, and binaries for this machine or the targets given.
if (import.meta.main) {
  const folder = path.join(cli, 'dist')
  const targets = process.argv.slice(2)
  const unknown = targets.filter((target) => !Object.hasOwn(TARGETS, target))
  if (unknown.length > 0) {
    process.stderr.write(`Unknown target ${unknown.join(', ')}. Targets: ${Object.keys(TARGETS).join(', ')}.\n`)
    process.exit(2)
  }
  process.stdout.write(`${await buildPackage(folder)}\n`)
  for (const target of targets.length > 0 ? (targets as Target[]) : hostTarget ? [hostTarget] : [])
    process.stdout.write(`${buildBinary(folder, target)}\n`)
}
