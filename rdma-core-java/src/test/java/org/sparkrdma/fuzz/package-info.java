// SPDX-License-Identifier: Apache-2.0
/**
 * What tests of decoders share: {@link org.sparkrdma.fuzz.DecoderGuard} holds them to what they
 * promise and counts the inputs. Not safe for several threads.
 */
package org.sparkrdma.fuzz;
