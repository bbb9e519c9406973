// SPDX-License-Identifier: Apache-2.0
/**
 * The command {@code ./card}: runs the contract suite and a transfer on a card and writes a report.
 * The suite and the transfer run in processes of their own, so that a hang in a driver ends with
 * them.
 */
package org.sparkrdma.card;
