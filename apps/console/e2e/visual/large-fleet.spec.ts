import { test } from '../fixtures/test.ts'
import { checkPage, SCREENS } from './check-page.ts'
import { pages } from './pages.ts'

// In one worker: 10,000 nodes are seeded once.
test.describe.configure({ mode: 'default' })
test.use(SCREENS.light)
for (const page of pages) if (page.scene === 'large') checkPage(page, 'light')
