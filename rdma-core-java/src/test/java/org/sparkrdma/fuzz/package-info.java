// SPDX-License-Identifier: Apache-2.0
/**
 * Shared by tests of decoders: {@link org.sparkrdma.fuzz.DecoderGuard} checks a decoder and counts
 * its inputs. Not safe for several threads.
 */
package org.sparkrdma.fuzz;
