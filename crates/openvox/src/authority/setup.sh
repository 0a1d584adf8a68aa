set -euo pipefail

ca_dir=/etc/puppetlabs/puppetserver/ca
ssl_dir=/etc/puppetlabs/puppet/ssl
account=/var/run/secrets/kubernetes.io/serviceaccount
namespace="$(cat "$account/namespace")"
secrets="https://kubernetes.default.svc/api/v1/namespaces/$namespace/secrets"

if [ -f "$ca_dir/ca_crt.pem" ]; then
  echo "The authority is there already; it is not made again."
else
  arguments=(--config /etc/puppetlabs/puppet/puppet.conf --certname "$CERTNAME")
  if [ -n "$DNS_ALT_NAMES" ]; then
    arguments+=(--subject-alt-names "$DNS_ALT_NAMES")
  fi
  puppetserver ca setup "${arguments[@]}"
fi

# entry KEY FILE: one value of a Secret.
entry() {
  local value
  value="$(base64 -w0 <"$2")" || return 1
  printf '"%s":"%s"' "$1" "$value"
}

# request METHOD URL BODY: prints the status code; the answer is in /tmp/answer.
request() {
  curl --silent --show-error --cacert "$account/ca.crt" \
    --header @<(printf 'Authorization: Bearer %s' "$(cat "$account/token")") \
    --header 'Content-Type: application/json' \
    --output /tmp/answer --write-out '%{http_code}' \
    --request "$1" --data-binary @- "$2" <<<"$3"
}

# upsert NAME LABELS DATA: makes the Secret, or replaces it.
upsert() {
  local body code
  body="{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"$1\",\"labels\":{$2}},\"data\":{$3}}"
  code="$(request PUT "$secrets/$1" "$body")"
  if [ "$code" = 404 ]; then
    code="$(request POST "$secrets" "$body")"
  fi
  case "$code" in
    2??) echo "Secret $1 is stored." ;;
    *)
      echo "Secret $1 could not be stored: HTTP $code" >&2
      cat /tmp/answer >&2
      exit 1
      ;;
  esac
}

labels='"app.kubernetes.io/name":"openvox","app.kubernetes.io/managed-by":"openvox-operator"'
labels="$labels,\"openvox.voxpupuli.org/certificateauthority\":\"$CA_NAME\""

# Values are read in statements of their own: a file that is missing ends the setup.
authority="$(entry ca_crt.pem "$ca_dir/ca_crt.pem")"
key="$(entry ca_key.pem "$ca_dir/ca_key.pem")"
lists="$(entry ca_crl.pem "$ca_dir/ca_crl.pem")"
# An authority that was brought along may have no list of infrastructure nodes.
if [ -f "$ca_dir/infra_crl.pem" ]; then
  infra="$(entry infra_crl.pem "$ca_dir/infra_crl.pem")"
  lists="$lists,$infra"
fi

upsert "$CA_SECRET_NAME" "$labels" "$authority"
upsert "$CA_KEY_SECRET_NAME" "$labels" "$key"
upsert "$CA_CRL_SECRET_NAME" "$labels" "$lists"

certificate="$ssl_dir/certs/$CERTNAME.pem"
if [ -n "$SSL_SECRET_NAME" ] && [ -f "$certificate" ]; then
  server="$(entry cert.pem "$certificate")"
  server_key="$(entry key.pem "$ssl_dir/private_keys/$CERTNAME.pem")"
  upsert "$SSL_SECRET_NAME" \
    "$labels,\"openvox.voxpupuli.org/certificate\":\"$CERT_RESOURCE_NAME\"" \
    "$server,$server_key"
else
  echo "There is no certificate of a server to store."
fi
