import { defineFuzzTests } from '../test/fuzz.ts'

defineFuzzTests(3000)
