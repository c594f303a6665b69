// Makes limiters until the system gives no more memory, and prints how many there were and what the error said.
import { TokenBucketLimiter } from 'sluicegate';

const [most, shared] = [Number(process.argv[2]), process.argv[3] === 'shared'];
const limiters = [];
let error;
try {
  while (limiters.length < most) {
    limiters.push(new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, maxKeys: 1, shared }));
  }
} catch ({ name, code, message }) {
  error = { name, code, message };
}
const working = limiters.every((limiter) => limiter.isAllowed('a') && !limiter.isAllowed('a'));
console.log(JSON.stringify({ made: limiters.length, working, error }));
