// SPDX-License-Identifier: Apache-2.0
/**
 * The command behind {@code ./soak}: one long-lived application under random faults, its executors
 * watched from outside, and a verdict whether what they hold stays flat.
 *
 * <p>Entry: {@link org.sparkrdma.soak.Soak}. The main thread waits for the application; one thread
 * beside it looks at the executors and troubles them.
 */
package org.sparkrdma.soak;
