// SPDX-License-Identifier: Apache-2.0
/**
 * Addresses of listeners with their subnets, and the choice of a pair of addresses for a
 * connection. Immutable values.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.address.AddressPair}.
 */
package org.sparkrdma.shuffle.address;
