/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.wire;

/**
 * The key that proofs to an executor are made with: its token, which the driver's directory tells,
 * bound to the application's secret where there is one ({@code spark.authenticate}). Then neither
 * alone is enough. Stateless.
 */
public final class ProofKey {
  private ProofKey() {}

  /**
   * HMAC-SHA-256 (RFC 2104) of the token with the secret.
   *
   * @param secret of the application; empty without authentication, then the token itself is the
   *     key
   */
  public static byte[] of(byte[] token, byte[] secret) {
    return secret.length == 0 ? token.clone() : Hmac.withKey(secret).doFinal(token);
  }
}
