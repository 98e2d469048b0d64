import { test } from 'vitest'
import { abuseUrls } from '../../testing/url-notations.ts'

test('no notation of 200,000 random addresses reaches a local one', () => abuseUrls(200_000), 600_000)
