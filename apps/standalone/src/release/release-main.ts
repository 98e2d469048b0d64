import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { nodeArguments } from '../node-child.ts'
import { root } from '../root.ts'
import { releaseChangelog, setVersions, versionIssue } from './prepare-release.ts'

// `npm run release -- VERSION`: changes the files of a release in a clean tree, for one commit.
const [version] = process.argv.slice(2)
const changelogFile = path.join(root, 'CHANGELOG.md')
const { version: current } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function run(script: string, ...args: string[]): void {
  const { status } = spawnSync(process.execPath, nodeArguments([script, ...args]), { cwd: root, stdio: 'inherit' })
  if (status !== 0)
    fail(`${script} failed. Undo its changes with: git restore . && git clean -fd packages/core/releases/${version}`)
}

const issue = versionIssue(version, current)
if (issue || !version) fail(issue!)
const changes = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
if (changes) fail(`Commit or remove these changes first:\n${changes}`)
let changelog: string
try {
  changelog = releaseChangelog(fs.readFileSync(changelogFile, 'utf8'), version, new Date().toISOString().slice(0, 10))
} catch (error) {
  fail((error as Error).message)
}
run('apps/api/src/testing/releases/record-release.ts', version)
run('apps/api/src/contract.ts', '--release')
fs.writeFileSync(changelogFile, changelog)
const files = setVersions(root, version)
process.stdout.write(
  `Version ${version} is set in ${files.length} packages. Check the changes, then commit and tag them:\n\n  git add -A && git commit -m 'release: version ${version}' && git tag v${version}\n`,
)
