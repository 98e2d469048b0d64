import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { releaseChangelog, setVersions, versionIssue } from './prepare-release.ts'

test('a release is newer than the current version', () => {
  expect(versionIssue('0.10.0', '0.9.1')).toBeNull()
  expect(versionIssue('0.9.1', '0.9.1')).toBe('0.9.1 is not newer than 0.9.1.')
  expect(versionIssue('0.9.0', '0.10.0')).toMatch(/is not newer/)
  for (const version of [undefined, 'v1.0.0', '1.0', '1.0.0-rc.1'])
    expect(versionIssue(version, '0.9.1')).toBe('Name the new version, such as 0.9.2.')
})

test('the section Unreleased becomes that of the release, and the next one is empty', () => {
  const before = '# Changelog\n\nText.\n\n## Unreleased\n\n- New.\n\n### Breaking\n\n- Old.\n'
  const after = releaseChangelog(before, '0.2.0', '2026-11-23')
  expect(after).toBe(
    '# Changelog\n\nText.\n\n## Unreleased\n\nNo changes yet.\n\n## 0.2.0 (2026-11-23)\n\n- New.\n\n### Breaking\n\n- Old.\n',
  )
  expect(() => releaseChangelog(after, '0.3.0', '2026-12-01')).toThrow('lists no changes')
  const next = releaseChangelog(after.replace('No changes yet.', '- Next.'), '0.3.0', '2026-12-01')
  expect(next).toContain('No changes yet.\n\n## 0.3.0 (2026-12-01)\n\n- Next.\n\n## 0.2.0 (2026-11-23)\n\n- New.')
})

test('all packages get the version, and nothing else changes', () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-release-'))
  onTestFinished(() => fs.rmSync(root, { recursive: true }))
  const text = '{\n  "name": "x",\n  "version": "0.1.0",\n  "dependencies": {\n    "version": "0.1.0"\n  }\n}\n'
  for (const folder of ['', 'apps/api', 'packages/core']) {
    fs.mkdirSync(path.join(root, folder), { recursive: true })
    fs.writeFileSync(path.join(root, folder, 'package.json'), text)
  }
  expect(setVersions(root, '0.2.0').sort()).toEqual(['apps/api/package.json', 'package.json', 'packages/core/package.json'])
  expect(fs.readFileSync(path.join(root, 'apps/api/package.json'), 'utf8')).toBe(text.replace('0.1.0', '0.2.0'))
})
