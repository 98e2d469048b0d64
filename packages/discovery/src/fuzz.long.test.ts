import { fuzz } from '../test/fuzz.ts'

fuzz(3000)
