#include "secret_places.h"

#include "base/cleanup.h"
#include "policy/path/path.h"

/* clang-format off */
const struct secret_place secret_places[] = {
    /* coop's own */
    { ".config/coop", true }, { ".local/state/coop", true }, { ".local/share/coop", true },
    { ".cache/coop", true }, { "/etc/coop", true }, { "/var/log/coop", true }, { "/var/lib/coop", true },

    /* keys */
    { ".ssh", false }, { ".gnupg", false }, { ".pki", false }, { ".age", false }, { ".config/age", false },
    { ".config/sops", false }, { ".step", false }, { ".putty", false },

    /* passwords and tokens of programs */
    { ".netrc", false }, { "_netrc", false }, { ".authinfo", false }, { ".authinfo.gpg", false },
    { ".npmrc", false }, { ".yarnrc.yml", false }, { ".pypirc", false }, { ".config/pip", false },
    { ".gem/credentials", false }, { ".cargo/credentials", false }, { ".cargo/credentials.toml", false },
    { ".composer/auth.json", false }, { ".config/composer/auth.json", false },
    { ".m2/settings.xml", false }, { ".m2/settings-security.xml", false }, { ".gradle/gradle.properties", false },
    { ".nuget/NuGet", false }, { ".git-credentials", false }, { ".config/git/credentials", false },
    { ".cache/git/credential", false }, { ".config/gh", false }, { ".config/glab-cli", false }, { ".config/hub", false },
    { ".pgpass", false }, { ".my.cnf", false }, { ".mylogin.cnf", false }, { ".s3cfg", false }, { ".boto", false },
    { ".dockercfg", false }, { ".docker", false }, { ".config/containers/auth.json", false },
    { ".huggingface", false }, { ".cache/huggingface/token", false }, { ".config/openai", false },
    { ".config/anthropic", false }, { ".claude/.credentials.json", false }, { ".claude.json", false },
    { ".codex/auth.json", false }, { ".gemini/oauth_creds.json", false }, { ".config/github-copilot", false },
    { ".config/rclone", false }, { ".config/restic", false }, { ".smbcredentials", false }, { ".msmtprc", false },
    { ".muttrc", false }, { ".fetchmailrc", false }, { ".irssi", false }, { ".rhosts", false }, { ".Xauthority", false },
    { ".ICEauthority", false }, { ".vault-token", false }, { ".config/op", false }, { ".config/Bitwarden", false },
    { ".config/Bitwarden CLI", false }, { ".config/ngrok", false }, { ".ngrok2", false }, { ".config/hcloud", false },
    { ".config/doctl", false }, { ".config/fly", false }, { ".fly", false }, { ".config/heroku", false },
    { ".config/netlify", false }, { ".config/stripe", false }, { ".config/wrangler", false }, { ".wrangler", false },

    /* clouds and clusters */
    { ".aws", false }, { ".azure", false }, { ".config/gcloud", false }, { ".config/doctl", false }, { ".oci", false },
    { ".bluemix", false }, { ".aliyun", false }, { ".kube", false }, { ".terraform.d/credentials.tfrc.json", false },
    { ".terraformrc", false }, { ".pulumi/credentials.json", false }, { ".config/helm", false },
    { ".databrickscfg", false }, { ".snowsql", false }, { ".config/linode-cli", false },

    /* password stores, key rings */
    { ".password-store", false }, { ".local/share/keyrings", false }, { ".local/share/kwalletd", false },
    { ".config/keepassxc", false }, { ".cache/keepassxc", false }, { ".electrum", false }, { ".bitcoin", false },
    { ".ethereum", false }, { ".config/solana", false },

    /* browsers and mail */
    { ".mozilla", false }, { ".thunderbird", false }, { ".config/google-chrome", false },
    { ".config/google-chrome-beta", false }, { ".config/chromium", false }, { ".config/BraveSoftware", false },
    { ".config/microsoft-edge", false }, { ".config/vivaldi", false }, { ".config/opera", false },
    { ".var/app", false }, { "snap/firefox", false }, { "snap/chromium", false }, { ".config/Signal", false },
    { ".config/Slack", false }, { ".config/discord", false },

    /* what was typed */
    { ".bash_history", false }, { ".zsh_history", false }, { ".local/share/fish/fish_history", false },
    { ".python_history", false }, { ".node_repl_history", false }, { ".psql_history", false },
    { ".mysql_history", false }, { ".sqlite_history", false }, { ".rediscli_history", false },

    /* the host's */
    { "/etc/shadow", false }, { "/etc/shadow-", false }, { "/etc/gshadow", false }, { "/etc/gshadow-", false },
    { "/etc/security/opasswd", false }, { "/etc/ssh/ssh_host_*_key", false }, { "/etc/ssl/private", false },
    { "/etc/pki/tls/private", false }, { "/etc/letsencrypt", false }, { "/etc/krb5.keytab", false },
    { "/etc/wireguard", false }, { "/etc/openvpn", false }, { "/etc/ppp/chap-secrets", false },
    { "/etc/ppp/pap-secrets", false }, { "/etc/NetworkManager/system-connections", false },
    { "/etc/wpa_supplicant", false }, { "/etc/sssd", false }, { "/etc/ipsec.secrets", false },
    { "/etc/kubernetes", false }, { "/etc/rancher", false }, { "/var/lib/kubelet", false },
    { "/etc/docker/key.json", false }, { "/etc/mysql/debian.cnf", false }, { "/etc/cifs-credentials", false },
    { "/run/secrets", false }, { "/run/user", false }, { "/var/spool/cron", false }, { "/var/mail", false },
};
/* clang-format on */

const size_t secret_n_places = COUNT(secret_places);

static const char *const system_places[] = {
    "/usr", "/bin", "/sbin",    "/lib",       "/lib32",      "/lib64", "/libx32",
    "/opt", "/etc", "/nix",     "/gnu",       "/snap",       "/boot",  "/proc",
    "/sys", "/dev", "/var/lib", "/var/cache", "/lost+found",
};

bool secret_is_system(const char *path)
{
    for (size_t i = 0; i < COUNT(system_places); i++)
        if (path_is_within(path, system_places[i]))
            return true;
    return false;
}
