import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { deadLinks } from './dead-links.ts'

test('reports only relative links whose target does not exist', () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-links-'))
  try {
    fs.writeFileSync(path.join(dir, 'here.md'), '')
    const file = path.join(dir, 'page.md')
    const links = [
      '(here.md)',
      '(here.md#part "title")',
      '(gone.md#part)',
      '(https://example.org/x)',
      '(#anchor)',
      '(mailto:a@example.org)',
    ]
    fs.writeFileSync(
      file,
      `${links.map((link) => `[text]${link}`).join(' ')} ![image](no.png)\n\`\`\`\n[code](not-a-link.md)\n\`\`\`\n`,
    )
    expect(deadLinks(file)).toEqual(['gone.md', 'no.png'])
  } finally {
    fs.rmSync(dir, { recursive: true, force: true })
  }
})
